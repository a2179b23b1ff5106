import TestSupport

/// An origin that holds each request, and each body after its first half, until a test answers it.
///
/// A body names its path, its user and its version. The entity tag names the version. ``moved`` redirects, to a target
/// that depends on the version.
final class InterleavingOrigin: HTTPTransport {
    /// An answer to a request, or to the rest of a body.
    enum Answer: CaseIterable {
        case success
        case serverError
        case notStored
        case connectionLost
        /// Status 503 with `Retry-After`.
        case paused
    }

    /// The path of the redirect.
    static let moved = "/3"
    /// The path whose responses may be served stale on an error.
    static let tolerant = "/2"
    /// The pause that ``Answer/paused`` asks for, in seconds.
    static let pause = 120.0

    /// A request that waits for its head, or for the rest of its body.
    struct Exchange: Sendable {
        let number: Int
        let path: String
        let user: String
        /// Whether the caller wants an unshared answer.
        let isForced: Bool
        var isArriving = false
        let gate = Gate()
        fileprivate var answer = Answer.success
    }

    private struct State {
        var exchanges: [Int: Exchange] = [:]
        var versions: [String: Int] = [:]
        var requestCount = 0
    }

    /// Guards the exchanges and the versions.
    private let state = Mutex(State())

    /// The exchanges that wait for an answer, the earliest first.
    var waiting: [Exchange] { state.withLock { $0.exchanges.values.sorted { $0.number < $1.number } } }

    /// The number of requests so far.
    var requestCount: Int { state.withLock { $0.requestCount } }

    /// The number of requests without a head that could share an answer, for the path with the most such requests.
    var mostShareable: Int {
        state.withLock { state in
            let asked = state.exchanges.values.filter { !$0.isArriving && !$0.isForced }
            return Dictionary(grouping: asked, by: \.path).values.map(\.count).max() ?? 0
        }
    }

    func version(of path: String) -> Int { state.withLock { $0.versions[path] ?? 0 } }

    /// Begins a new version of a resource.
    func change(_ path: String) { state.withLock { $0.versions[path, default: 0] += 1 } }

    /// Releases an exchange for its next step.
    func answer(_ exchange: Exchange, _ answer: Answer) {
        state.withLock { $0.exchanges[exchange.number]?.answer = answer }
        exchange.gate.admit()
    }

    // MARK: HTTPTransport

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        let user = request.headerFields[.authorization] ?? ""
        let exchange = state.withLock { state in
            state.requestCount += 1
            let exchange = Exchange(
                number: state.requestCount, path: path, user: user,
                isForced: request.headerFields[.forced] != nil)
            state.exchanges[exchange.number] = exchange
            return exchange
        }
        let (answer, version) = await next(exchange)
        if Task.isCancelled { throw TransportError(.cancelled) }
        var fields: HTTPFields = [.cacheControl: Self.directives(of: path), .eTag: "\"\(version)\""]
        switch answer {
        case .connectionLost: throw TransportError(.connectionLost)
        case .serverError: return .reply(500)
        case .paused: return .reply(503, [.retryAfter: "\(Int(Self.pause))"])
        case .notStored: fields[.cacheControl] = "no-store"
        case .success:
            guard request.headerFields[.ifNoneMatch] != fields[.eTag] else { return .reply(304, fields) }
        }
        if path == Self.moved {
            fields[.location] = "/\(1 + version % 2)"
            return .reply(307, fields)
        }
        return TransportResponse(
            head: HTTPResponse(status: .ok, headerFields: fields), body: body(exchange, "\(path)|\(user)|\(version)"))
    }

    /// - Returns: The answer, and the version of the resource at that time.
    private func next(_ exchange: Exchange) async -> (Answer, Int) {
        await exchange.gate.wait()
        return state.withLock { state in
            let answer = state.exchanges[exchange.number]?.answer ?? .connectionLost
            state.exchanges[exchange.number] = nil
            return (answer, state.versions[exchange.path] ?? 0)
        }
    }

    /// A body that stops after its first byte until the test releases it.
    private func body(_ exchange: Exchange, _ text: String) -> TransportBody {
        let rest = HeldRest([Data(text.utf8.prefix(1)), Data(text.utf8.dropFirst(1))])
        return TransportBody { () async throws(TransportError) -> Data? in
            guard let (chunk, isRest) = rest.next() else { return nil }
            guard isRest else { return chunk }
            var arriving = Exchange(
                number: exchange.number, path: exchange.path, user: exchange.user, isForced: exchange.isForced)
            arriving.isArriving = true
            self.state.withLock { [arriving] in $0.exchanges[arriving.number] = arriving }
            let (answer, _) = await self.next(arriving)
            if Task.isCancelled { throw TransportError(.cancelled) }
            if answer == .connectionLost { throw TransportError(.truncated) }
            return chunk
        }
    }

    private static func directives(of path: String) -> String {
        switch path {
        case "/0": "max-age=60, stale-while-revalidate=600"
        case tolerant: "max-age=60, stale-if-error=100000"
        default: "max-age=60"
        }
    }
}

/// The two halves of a body.
private final class HeldRest: Sendable {
    /// Guards the remaining chunks.
    private let chunks: Mutex<ArraySlice<Data>>

    init(_ chunks: [Data]) { self.chunks = Mutex(chunks[...]) }

    /// - Returns: The next chunk, and whether it is the last one.
    func next() -> (Data, Bool)? { chunks.withLock { chunks in chunks.popFirst().map { ($0, chunks.isEmpty) } } }
}

extension HTTPField.Name {
    /// Marks a request whose caller wants an unshared answer.
    static var forced: Self { HTTPField.Name("Forced") ?? .via }
}
