public import CacheFoundation
public import CacheLoader
internal import HTTPArchive
internal import Synchronization

/// A transport that answers from a file with recorded exchanges, and opens no connection.
///
/// ```swift
/// let transport = try ReplayTransport(file: URL(filePath: "search.har"))
/// let clock = ManualClock(transport.startDate)
/// ```
///
/// The file is an HTTP Archive (HAR 1.2): of a ``RecordingTransport``, of a browser's network panel, or of the
/// inspector. A recorded answer has the same method, URL and content as the request, and the same values of the chosen
/// fields. Equal requests get their answers in order, and the last one again and again. An answer with the status 206,
/// 304, 412 or 416 answers only a request with the recorded conditions and ranges.
///
/// Bodies arrive as the program has read them: the file contains them decoded, so a field such as `Content-Encoding` is
/// absent. Safe to use from any task.
public final class ReplayTransport: HTTPTransport {
    /// The start of the first recorded request, for a ``ManualClock``: then the answers are as fresh as they were.
    public let startDate: Date

    private let file: URL
    /// Guards the answers that are left.
    private let replies: Mutex<RecordedReplies>

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - fields: The fields that a request must share with a recorded one; none by default.
    ///   - redactedFields: More fields whose values the recording has redacted.
    ///   - redactedQueryItems: More query items whose values the recording has redacted.
    /// - Throws: ``RecordingError`` if the file cannot be read.
    public convenience init(
        file: URL, matching fields: [HTTPField.Name] = [], redactedFields: [HTTPField.Name] = [],
        redactedQueryItems: [String] = []
    ) throws(RecordingError) {
        self.init(
            file, try HTTPArchive(file: file).log.entries, matching: fields,
            Redaction(fields: redactedFields, queryItems: redactedQueryItems))
    }

    init(_ file: URL, _ entries: [HTTPArchive.Entry], matching fields: [HTTPField.Name], _ redaction: Redaction) {
        self.file = file
        startDate = entries.map(\.date).min() ?? Date()
        replies = Mutex(RecordedReplies(entries, matching: fields, redaction))
    }

    /// Returns the request unchanged.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Answers from the file.
    ///
    /// - Throws: `TransportError.Code.unsupportedRequest`, which a loader does not retry, without a recorded answer.
    ///   The message names the request.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        guard let response = try answer(to: request, content: try await content?.collect()) else {
            throw TransportError(
                .unsupportedRequest,
                message: "\(file.lastPathComponent) has no answer to \(request.method.rawValue) \(request.absoluteURL)")
        }
        return response
    }

    /// Returns the next recorded answer, or `nil`.
    func answer(to request: HTTPRequest, content: Data?) throws(TransportError) -> TransportResponse? {
        do throws(ArchiveError) {
            guard
                let exchange = try replies.withLock({ replies throws(ArchiveError) in
                    try replies.next(to: request, content: content)
                })
            else { return nil }
            return TransportResponse(
                head: exchange.response, body: TransportBody(request.method == .head ? Data() : exchange.body),
                isBodyDecoded: exchange.isBodyDecoded)
        } catch {
            throw TransportError(
                .unsupportedRequest, message: "\(file.lastPathComponent): \(request.absoluteURL): \(error)")
        }
    }
}

/// The reason why a file of recorded exchanges cannot be read or written.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let file: URL
    /// The reason.
    public let reason: String

    package init(file: URL, reason: String) {
        self.file = file
        self.reason = reason
    }

    /// The path of the file, and the reason.
    public var description: String { "\(file.path(percentEncoded: false)): \(reason)" }
}

extension HTTPArchive {
    init(file: URL) throws(RecordingError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw RecordingError(file: file, reason: "the file cannot be read: \(error)")
        }
        do throws(ArchiveError) {
            self = try HTTPArchive(data)
        } catch {
            throw RecordingError(file: file, reason: "the file is no HTTP Archive (HAR 1.2): \(error)")
        }
    }
}
