internal import Synchronization

/// Hands the interim responses to one request to its caller, until the request has a final response (RFC 9110 §15.2). A
/// transport may report late, and a coalesced request may outlive its caller. Safe to use from any task.
final class InterimResponses: Sendable {
    private let receiver: @Sendable (HTTPResponse) -> Void
    private let isOver = Atomic(false)

    init(_ receiver: @escaping @Sendable (HTTPResponse) -> Void) {
        self.receiver = receiver
    }

    /// Hands over a response, unless the final response is known.
    func receive(_ response: HTTPResponse) {
        if !isOver.load(ordering: .acquiring) { receiver(response) }
    }

    /// Drops all further responses.
    func end() {
        isOver.store(true, ordering: .releasing)
    }
}
