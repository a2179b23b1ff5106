internal import CacheCodings
internal import CacheLoader
internal import CacheStore
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One `URLRequest` and its response.
struct SessionExchange: Sendable {
    /// The most redirects, the same as for `URLSession` and for a loader.
    static let maxRedirects = 20

    let urlResponse: HTTPURLResponse
    private let response: CachedResponse
    private let url: String
    private let requestedURL: URL?
    private let isDecoded: Bool
    private let maxBodyBytes: Int64
    private let timeLimit: Duration?
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Sends a request and follows redirects. Returns once the head of the last response has arrived.
    init(_ request: URLRequest, _ cache: HTTPCache) async throws(URLError) {
        try await self.init(request, SessionRequest(request), cache, maxRedirects: Self.maxRedirects)
    }

    /// Sends a converted request. With `nil` for `maxRedirects`, returns a redirect like any other response.
    init(
        _ request: URLRequest, _ message: SessionRequest, _ cache: HTTPCache, maxRedirects: Int?
    ) async throws(URLError) {
        let configuration = cache.configuration
        timeLimit = Duration(timeout: request.timeoutInterval)
        sleep = configuration.sleep
        maxBodyBytes = configuration.maxBodyBytes
        requestedURL = request.url
        let final: HTTPCache.FinalResponse
        do throws(LoadError) {
            guard !Task.isCancelled else { throw .cancelled }
            final = try await cache.finalResponse(
                to: message.method, message.url, message.headerFields, content: message.content,
                policy: message.policy, maxRedirects: maxRedirects, timeLimit: timeLimit)
        } catch {
            throw URLError(error, request.url, hasStream: message.content?.isRepeatable == false)
        }
        response = final.response
        url = final.url.text
        var fields = response.headerFields
        // A part counts encoded bytes, and a response without content has nothing to decode.
        let hasContent = message.method != .head && ![204, 206, 304].contains(response.status.code)
        isDecoded = hasContent && ContentCoding.isKnown(fields)
        if isDecoded { fields.removeEncodedDescription() }
        let responseURL = final.isRedirected ? URL(string: url) : request.url
        guard let responseURL, let urlResponse = HTTPURLResponse(responseURL, response.status, fields) else {
            throw URLError(.badServerResponse)
        }
        self.urlResponse = urlResponse
    }

    var isSuccessful: Bool { response.status.kind == .successful }

    /// The target of a redirect, or `nil` for any other response.
    var redirectTarget: URL? {
        let head = HTTPResponse(status: response.status, headerFields: response.headerFields)
        return Redirection.target(of: head, from: requestedURL?.absoluteString ?? url).flatMap { URL(string: $0) }
    }

    /// The `Set-Cookie` lines that the origin has sent for this request. A stored response sets no cookies.
    var setCookieLines: [String] {
        guard response.source.isTransferred || response.source == .notModified else { return [] }
        return response.headerFields.filter { $0.name == .setCookie }.map(\.text)
    }

    /// Receives the body of a followed redirect in the background, so that the store gets it.
    func drain() {
        if response.source.isTransferred { response.drainInBackground(sleep: sleep) }
    }

    // MARK: Reading

    /// Returns the whole decoded body.
    func data() async throws(URLError) -> Data {
        do throws(LoadError) {
            var data: Data
            if let stored = try response.body.storedData(upTo: .max) {
                data = stored
            } else {
                let timer = timer()
                data = try await timer.limiting { () async throws(LoadError) in
                    try await response.body.data { _ in timer.restart() }
                }
            }
            if isDecoded { data = try decoded(data) }
            // The store or a transport may ignore the cancellation.
            guard !Task.isCancelled else { throw .cancelled }
            return data
        } catch {
            throw urlError(error)
        }
    }

    /// Writes the whole decoded body to a temporary file that then replaces `file`.
    func write(to file: URL, isPrivate: Bool) async throws(URLError) {
        do throws(LoadError) {
            let target = try TargetFile(replacing: file, isPrivate: isPrivate)
            if isDecoded {
                var chunks = chunks()
                while let chunk = try await chunks.nextChunk() {
                    try await target.write(chunk)
                }
            } else {
                let timer = timer()
                try await timer.limiting { () async throws(LoadError) in
                    try await response.body.write(to: target) { _ in timer.restart() }
                }
            }
            guard !Task.isCancelled else { throw .cancelled }
            try target.commit()
        } catch {
            throw urlError(error)
        }
    }

    private func decoded(_ data: Data) throws(LoadError) -> Data {
        do throws(ContentDecodingError) {
            return try ContentCoding.decode(data, response.headerFields, limit: maxBodyBytes) ?? data
        } catch {
            throw LoadError(error, url: url)
        }
    }

    /// Returns a reader of the decoded body.
    func chunks() -> SessionChunks {
        let decoder = isDecoded ? ContentDecoder(response.headerFields, limit: maxBodyBytes) : nil
        return SessionChunks(response.body.makeAsyncIterator(), decoder, timer(), url: url)
    }

    func urlError(_ error: LoadError) -> URLError { URLError(error, requestedURL) }

    /// A timer that stops reading the body. A stored body needs no timer.
    private func timer() -> IdleTimer {
        let isStored = !response.source.isTransferred
        return IdleTimer(limit: isStored ? nil : timeLimit, url: url, sleep) { [body = response.body] in body.cancel() }
    }
}

/// Reads a decoded body chunk by chunk.
struct SessionChunks {
    private var chunks: ResponseBody.Iterator
    private let decoder: ContentDecoder?
    private let timer: IdleTimer
    private let url: String
    private var isAtEnd = false

    init(_ chunks: ResponseBody.Iterator, _ decoder: ContentDecoder?, _ timer: IdleTimer, url: String) {
        self.chunks = chunks
        self.decoder = decoder
        self.timer = timer
        self.url = url
    }

    /// Returns the next non-empty chunk, or `nil` at the end.
    mutating func nextChunk() async throws(LoadError) -> Data? {
        while !isAtEnd {
            if let decoded = try decoding({ () throws(ContentDecodingError) in try decoder?.next() }) { return decoded }
            guard let chunk = try await receive() else {
                isAtEnd = true
                try decoding { () throws(ContentDecodingError) in try decoder?.finish() }
                break
            }
            guard let decoder else { return chunk }
            decoder.append(chunk)
        }
        return nil
    }

    private func decoding<Value>(_ body: () throws(ContentDecodingError) -> Value) throws(LoadError) -> Value {
        do throws(ContentDecodingError) {
            return try body()
        } catch {
            throw LoadError(error, url: url)
        }
    }

    /// The timer excludes the program's time between two reads.
    private mutating func receive() async throws(LoadError) -> Data? {
        var chunks = chunks
        defer { self.chunks = chunks }
        return try await timer.limiting { () async throws(LoadError) in try await chunks.next() }
    }
}

extension Duration {
    /// Returns the timeout of a request, or `nil` for no timeout and for an invalid number.
    fileprivate init?(timeout: TimeInterval) {
        guard timeout > 0, timeout.isFinite else { return nil }
        // Limits the timeout to a century, so that a practically infinite timeout does not overflow.
        self = .seconds(min(timeout, 3_155_760_000))
    }
}

extension HTTPURLResponse {
    /// Creates a response. Joins the lines of a field with a comma, as `URLSession` does (RFC 9110 §5.2).
    fileprivate convenience init?(_ url: URL, _ status: HTTPResponse.Status, _ fields: HTTPFields) {
        var values: [String: String] = [:]
        var names: [String: String] = [:]
        for field in fields {
            let name = names[field.name.canonicalName] ?? field.name.rawName
            names[field.name.canonicalName] = name
            values[name] = values[name].map { "\($0), \(field.text)" } ?? field.text
        }
        self.init(url: url, statusCode: status.code, httpVersion: "HTTP/1.1", headerFields: values)
    }
}
