internal import CacheFoundation
internal import CacheLoader
internal import Synchronization

/// The requests for objects that both HTTP engines send: `GET`, `PUT` and `DELETE` of a name below a folder.
final class ObjectRequests: Sendable {
    /// Adds the fields of a dialect, such as a signature.
    typealias Authorizer =
        @Sendable (inout HTTPRequest, _ content: Data, _ now: HTTPDate) async throws(TierEngineError) -> Void

    /// The host and port, without the default port: a signature covers the field `Host`.
    let authority: String
    /// Begins with a slash and does not end with one.
    let folder: String
    private let scheme: String
    private let transport: any HTTPTransport
    private let clock: @Sendable () -> Date
    private let authorize: Authorizer
    /// The seconds by which the engine's clock is ahead of this machine's, from its latest response.
    private let secondsAhead = Mutex<Int64>(0)
    /// Whether the engine honours the condition of a write. `false` once it has answered that it does not know it.
    private let conditions: Mutex<Bool>

    /// Throws ``TierError/invalidURL(_:)`` for another text than an http or https URL without user, query and fragment.
    init(
        _ url: String, _ conditionalWrites: Bool, transport: any HTTPTransport,
        clock: @escaping @Sendable () -> Date, authorize: @escaping Authorizer
    ) throws(TierError) {
        let parts = url.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2, parts[0] == "http:" || parts[0] == "https:", url.contains("://"),
            !parts[1].contains("@"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !url.contains("?"), !url.contains("#")
        else { throw .invalidURL(Self.withoutSecrets(url)) }
        scheme = String(parts[0].dropLast())
        let port = scheme == "https" ? ":443" : ":80"
        authority = String(parts[1].hasSuffix(port) ? parts[1].dropLast(port.count) : parts[1])
        folder = parts.dropFirst(2).map { "/\($0)" }.joined()
        self.transport = transport
        self.clock = clock
        self.authorize = authorize
        conditions = Mutex(conditionalWrites)
    }

    var hasConditionalWrites: Bool { conditions.withLock { $0 } }

    /// Returns the URL without user, query and fragment, which may contain secrets.
    static func withoutSecrets(_ url: String) -> String {
        let host = url.lastIndex(of: "@").map { url[url.index(after: $0)...] } ?? url[...]
        return String(host.prefix { $0 != "?" && $0 != "#" })
    }

    func object(named name: String) async throws(TierEngineError) -> TierObject {
        let response = try await send(.get, name)
        let isAbsent = [404, 410].contains(response.head.status.code)
        guard isAbsent || response.head.status == .ok else { throw await failure(.get, response) }
        let fields = response.head.headerFields
        let reference = HTTPDate(clock())
        guard let date = fields.date(.date, now: reference) else { throw .refused("GET without Date") }
        // A cache in front of the engine repeats an older Date and states its Age.
        let now = date.advanced(by: fields.statedAge)
        secondsAhead.withLock { $0 = now.seconds(since: reference) }
        if isAbsent {
            _ = try? await response.body.next()
            return TierObject(nil, now: Date(now))
        }
        guard let lastModified = fields.date(.lastModified, now: now) else {
            throw .refused("GET without Last-Modified")
        }
        return TierObject(.init(body: response.body, lastModified: Date(lastModified)), now: Date(now))
    }

    /// Returns whether the object was written. Writes without the condition if the engine does not know it.
    func put(_ bytes: Data, as name: String, onlyIfAbsent: Bool) async throws(TierEngineError) -> Bool {
        let isConditional = onlyIfAbsent && hasConditionalWrites
        let response = try await send(.put, name, content: bytes, isConditional ? [.ifNoneMatch: "*"] : [:])
        let status = response.head.status
        // S3 answers 409 while another conditional write of the name is running.
        let isPresent = isConditional && [409, 412].contains(status.code)
        if status.kind == .successful || isPresent {
            _ = try? await response.body.next()
            return !isPresent
        }
        // Not 400, because S3 also answers 400 for expired credentials.
        if isConditional, [405, 501].contains(status.code) {
            let isWritten = try await put(bytes, as: name, onlyIfAbsent: false)
            // Note this only now: an engine that refuses every write, such as one in maintenance, may know conditions.
            conditions.withLock { $0 = false }
            return isWritten
        }
        throw await failure(.put, response)
    }

    func delete(_ name: String) async throws(TierEngineError) {
        let response = try await send(.delete, name)
        let status = response.head.status
        if status.kind == .successful || status == .notFound { return }
        throw await failure(.delete, response)
    }

    private func send(
        _ method: HTTPRequest.Method, _ name: String, content: Data? = nil, _ fields: HTTPFields = [:]
    ) async throws(TierEngineError) -> TransportResponse {
        var request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: "\(folder)/\(name)")
        if method == .put { request.headerFields[.contentType] = "application/octet-stream" }
        let now = HTTPDate(clock()).advanced(by: secondsAhead.withLock { $0 })
        try await authorize(&request, content ?? Data(), now)
        // No Date: nginx would use the Date of a PUT as the time of the file, which is the clock of the tier. These
        // fields are not signed.
        request.headerFields += fields
        do throws(TransportError) {
            return try await transport.send(transport.prepare(request), content: content.map { RequestContent($0) })
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// Returns the error of a response, with the code that S3 states in its body.
    private func failure(_ method: HTTPRequest.Method, _ response: TransportResponse) async -> TierEngineError {
        var body = Data()
        while body.count < 4096, let chunk = try? await response.body.next() { body += chunk }
        let status = response.head.status
        if let now = response.head.headerFields.date(.date, now: HTTPDate(clock())) {
            // After RequestTimeTooSkewed, the next signature has the engine's time.
            secondsAhead.withLock { $0 = now.seconds(since: HTTPDate(clock())) }
        }
        let code = Self.code(in: String(decoding: body, as: UTF8.self)).map { " (\($0))" } ?? ""
        let text = "\(method) \(status.code)\(code)"
        guard status == .serviceUnavailable || status == .tooManyRequests else { return .refused(text) }
        let seconds = response.head.headerFields[.retryAfter].flatMap { Int64($0) } ?? 1
        return .busy(text, retryAfter: .seconds(max(1, min(seconds, 30))))
    }

    private static func code(in text: String) -> Substring? {
        guard let begin = text.firstRange(of: "<Code>"), let end = text.firstRange(of: "</Code>"),
            begin.upperBound <= end.lowerBound
        else { return nil }
        let code = text[begin.upperBound..<end.lowerBound]
        return code.utf8.count <= 64 && code.allSatisfy { $0.isLetter || $0.isNumber } ? code : nil
    }
}

extension HTTPFields {
    /// The first field of this name as a date.
    func date(_ name: HTTPField.Name, now: HTTPDate) -> HTTPDate? {
        first { $0.name == name }.flatMap { HTTPDate($0, now: now) }
    }
}
