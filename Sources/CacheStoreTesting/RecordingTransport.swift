public import CacheFoundation
public import CacheLoader
internal import HTTPArchive
internal import Synchronization

/// A transport that records exchanges for a ``ReplayTransport``, in an HTTP Archive (HAR 1.2).
///
/// ```swift
/// let transport = try RecordingTransport(DefaultTransport(), file: URL(filePath: "search.har"))
/// let cache = HTTPCache(store: store, transport: transport)
/// …
/// try transport.save()
/// ```
///
/// An exchange is recorded when its whole body has arrived. A failed one is not recorded.
///
/// The file has no credentials and no cookies. The values of `Authorization`, `Cookie`, `Set-Cookie`, `X-API-Key` and
/// similar fields are redacted, and so are query items such as `access_token`, `signature` and `password`. Contents and
/// bodies are recorded as they are. Safe to use from any task.
public final class RecordingTransport: HTTPTransport {
    /// Decides which requests reach the network.
    @nonexhaustive
    public enum Mode: String, Hashable, Sendable {
        /// Requests without an answer in the file. Their exchanges are added to it. The default.
        case missing
        /// All requests. Their exchanges replace the file.
        case all
    }

    private struct Recorded: Sendable {
        var next = 0
        var entries: [Int: HTTPArchive.Entry] = [:]
    }

    private let transport: any HTTPTransport
    private let file: URL
    private let redaction: Redaction
    private let present: [HTTPArchive.Entry]
    private let replay: ReplayTransport
    /// Guards the new exchanges, in the order of their requests.
    private let recorded = Mutex(Recorded())

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - transport: Carries the requests that reach the network.
    ///   - file: The file, which ``save()`` writes. It need not exist.
    ///   - mode: Decides which requests reach the network.
    ///   - fields: The fields that a request must share with a recorded one; none by default.
    ///   - redactedFields: More fields whose values to redact.
    ///   - redactedQueryItems: More query items whose values to redact.
    /// - Throws: ``RecordingError`` if a present file is no HTTP Archive.
    public init(
        _ transport: any HTTPTransport, file: URL, mode: Mode = .missing, matching fields: [HTTPField.Name] = [],
        redactedFields: [HTTPField.Name] = [], redactedQueryItems: [String] = []
    ) throws(RecordingError) {
        self.transport = transport
        self.file = file
        redaction = Redaction(fields: redactedFields, queryItems: redactedQueryItems)
        let isPresent = FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
        present = mode == .missing && isPresent ? try HTTPArchive(file: file).log.entries : []
        replay = ReplayTransport(file, present, matching: fields, redaction)
    }

    /// The start of the first exchange in the file, or the present time without one.
    public var startDate: Date { replay.startDate }

    /// Returns the request as the wrapped transport sends it.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { transport.prepare(request) }

    /// Whether the wrapped transport passes bodies in unknown content codings.
    public var passesUnknownCodings: Bool { transport.passesUnknownCodings }

    /// Answers from the file, or sends the request and records the exchange. Passes on interim responses, which are not
    /// recorded.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let data = try await content?.collect()
        if let answer = try replay.answer(to: request, content: data) { return answer }
        let (date, start) = (Date(), ContinuousClock.now)
        let number = recorded.withLock { recorded in
            defer { recorded.next += 1 }
            return recorded.next
        }
        var response = try await transport.send(
            request, content: data.map { RequestContent($0) }, onInterimResponse: onInterimResponse)
        let (head, source, isBodyDecoded) = (response.head, response.body, response.isBodyDecoded)
        let record: @Sendable (Data) -> Void = { [self] body in
            let entry = HTTPArchive.Entry(
                RecordedExchange(
                    request: request, content: data, response: head, body: body, isBodyDecoded: isBodyDecoded,
                    date: date,
                    duration: ContinuousClock.now - start))
            recorded.withLock { $0.entries[number] = entry }
        }
        // RFC 9110 §6.4.1: these have no body, so that a caller need not read it.
        if request.method == .head || [204, 304].contains(head.status.code) { record(Data()) }
        let collected = Mutex(Data())
        response.body = TransportBody { () async throws(TransportError) in
            if let chunk = try await source.next() {
                collected.withLock { $0 += chunk }
                return chunk
            }
            record(collected.withLock { $0 })
            return nil
        }
        return response
    }

    /// Writes the file in one step: a reader sees the old file or the whole new one.
    ///
    /// Call it after the last request. A recording without new exchanges leaves the file unchanged.
    ///
    /// - Throws: ``RecordingError`` if the file cannot be written.
    public func save() throws(RecordingError) {
        let new = recorded.withLock { $0.entries }.sorted { $0.key < $1.key }.map(\.value)
        guard !new.isEmpty else { return }
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try HTTPArchive(entries: (present + new).map(redaction.redacted)).encoded().write(
                to: file, options: .atomic)
        } catch {
            throw RecordingError(file: file, reason: "the file cannot be written: \(error)")
        }
    }
}
