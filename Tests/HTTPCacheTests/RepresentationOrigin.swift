import TestSupport

/// An origin with one representation that supports validators and single ranges, and may break off.
final class RepresentationOrigin: Sendable {
    struct State: Sendable {
        var body: Data
        var fields: HTTPFields
        /// The number of content bytes after which a response breaks off.
        var breaksOffAfter: Int?
        var knowsRanges = true
        /// Replaces the whole answer.
        var override: (@Sendable (HTTPRequest) -> TransportResponse?)?
    }

    /// Guards the representation of the origin.
    let state: Mutex<State>

    init(_ body: String, _ fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]) {
        state = Mutex(State(body: Data(body.utf8), fields: fields))
    }

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    var transport: ScriptedTransport { ScriptedTransport { request, _ in self.answer(request) } }

    /// A transport to this origin, and a fixture that has stored the whole through it.
    func filled() async throws -> (ScriptedTransport, LoaderFixture) {
        let (transport, fixture) = try LoaderFixture.sending(to: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        return (transport, fixture)
    }

    private func answer(_ request: HTTPRequest) -> TransportResponse {
        let state = state.withLock { $0 }
        if let response = state.override?(request) { return response }
        let etag = state.fields[.eTag]
        if let etag, request.headerFields[.ifNoneMatch]?.contains(etag) == true {
            return TransportResponse(
                head: HTTPResponse(status: .notModified, headerFields: state.fields), body: TransportBody(Data()))
        }
        var (status, content, fields) = (HTTPResponse.Status.ok, state.body, state.fields)
        if state.knowsRanges, request.method == .get, let range = request.headerFields[.range],
            request.headerFields[.ifRange].map({ $0 == etag }) ?? true
        {
            let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            let last = Int(ends[1])
            let first = Int(ends[0]) ?? max(0, content.count - (last ?? 0))
            let end = ends[0].isEmpty ? content.count : min(content.count, last.map { $0 + 1 } ?? .max)
            guard first < end else {
                fields[.contentRange] = "bytes */\(content.count)"
                return TransportResponse(
                    head: HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields),
                    body: TransportBody(Data()))
            }
            status = .partialContent
            fields[.contentRange] = "bytes \(first)-\(end - 1)/\(content.count)"
            content = content[first..<end]
        }
        fields[.contentLength] = String(content.count)
        if request.method == .head { content = Data() }
        var failure: TransportError?
        if let limit = state.breaksOffAfter, content.count > limit {
            content = content.prefix(limit)
            failure = TransportError(.connectionLost)
        }
        return TransportResponse(
            head: HTTPResponse(status: status, headerFields: fields),
            body: TransportBody(chunks: [Data(content)], failure: failure))
    }
}
