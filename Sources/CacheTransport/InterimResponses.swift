package import HTTPTypes
internal import Synchronization

/// Hands the interim responses to one request to its caller, until the request has a final response (RFC 9110 §15.2). A
/// transport may report late, and a coalesced request may outlive its caller. Safe to use from any task.
package final class InterimResponses: Sendable {
    private let receiver: @Sendable (HTTPResponse) -> Void
    private let isOver = Atomic(false)

    package init(_ receiver: @escaping @Sendable (HTTPResponse) -> Void) {
        self.receiver = receiver
    }

    /// Hands over a response, unless the final response is known.
    package func receive(_ response: HTTPResponse) {
        if !isOver.load(ordering: .acquiring) { receiver(response) }
    }

    /// Drops all further responses.
    package func end() {
        isOver.store(true, ordering: .releasing)
    }
}

extension HTTPTransport {
    /// Sends a request, and passes its interim responses to `interimResponses`, until the final head arrives.
    package func send(
        _ request: HTTPRequest, content: RequestContent?, interimResponses: InterimResponses?
    ) async throws(TransportError) -> TransportResponse {
        guard let interimResponses else { return try await send(request, content: content) }
        let responses = InterimResponses { interimResponses.receive($0) }
        // The caller may still wait, for another request or for the store.
        defer { responses.end() }
        return try await send(request, content: content) { responses.receive($0) }
    }
}
