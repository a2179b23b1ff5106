import CacheStore
import CacheStoreTesting
import HTTPTypes
import Hummingbird
import HummingbirdCaching
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization

/// Counts the calls of routes.
final class CallCount: Sendable {
    private let count = Mutex(0)

    /// Counts a call and returns the number of calls so far.
    @discardableResult
    func add() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    var value: Int { count.withLock { $0 } }
}

/// A gate that opens once, for any number of waiters.
struct Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    /// Returns once the gate is open or the calling task is cancelled.
    func wait() async { for await _ in stream {} }
}

extension Response {
    static func text(_ text: String, _ headers: HTTPFields = [:], status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

extension HTTPFields {
    static func caching(_ value: String, _ others: HTTPFields = [:]) -> HTTPFields {
        var fields = others
        fields[.cacheControl] = value
        return fields
    }
}

/// Returns an application with the routes that `configure` adds.
func application(
    _ configure: (Router<BasicRequestContext>) throws -> Void
) rethrows -> Application<RouterResponder<BasicRequestContext>> {
    let router = Router()
    try configure(router)
    return Application(router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
}

extension TestClientProtocol {
    /// Returns the content of the response to a GET.
    func text(_ path: String, _ headers: HTTPFields = [:]) async throws -> String {
        String(buffer: try await execute(uri: path, method: .get, headers: headers).body)
    }
}
