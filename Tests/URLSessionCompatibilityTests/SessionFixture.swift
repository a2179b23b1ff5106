import TestSupport
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A cache in a temporary directory, with a clock and a sleeper that the test controls.
final class SessionFixture: Sendable {
    let directory: TemporaryDirectory
    let clock = ManualClock()
    let sleeper = ManualClock()
    let store: ResponseStore
    let cache: HTTPCache

    init(
        _ transport: any HTTPTransport, limits: Limits? = nil,
        configure: (inout HTTPCache.Configuration) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        var storing = ResponseStore.Configuration()
        storing.clock = clock.date
        storing.limits = limits
        store = try ResponseStore(directory: directory.url.appending(path: "store"), configuration: storing)
        var configuration = HTTPCache.Configuration()
        configuration.clock = clock.date
        configuration.sleep = sleeper.sleep
        configure(&configuration)
        cache = HTTPCache(store: store, transport: transport, configuration: configuration)
    }

    convenience init(_ replies: @escaping @Sendable (HTTPRequest) -> TransportResponse) throws {
        try self.init(ScriptedTransport { request, _ in replies(request) })
    }

    /// A path for a file next to the store.
    func file(_ name: String) -> URL { directory.url.appending(path: name, directoryHint: .notDirectory) }
}

extension URLRequest {
    /// A request to the only origin of these tests.
    static func to(
        _ path: String, _ method: String = "GET", _ fields: [String: String] = [:], body: Data? = nil,
        cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) -> URLRequest {
        guard let url = URL(string: "https://example.com\(path)") else { preconditionFailure("a path is valid") }
        var request = URLRequest(url: url, cachePolicy: cachePolicy)
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = body
        return request
    }
}

extension URLResponse {
    var http: HTTPURLResponse { get throws { try #require(self as? HTTPURLResponse) } }
}

/// Fails unless `body` throws a `URLError` with this code.
func expect(
    _ code: URLError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record(comment ?? "no error", sourceLocation: sourceLocation)
    } catch let error as URLError {
        #expect(error.code == code, comment, sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}
