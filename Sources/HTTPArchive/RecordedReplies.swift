package import CacheFoundation
package import HTTPTypes

/// Recorded exchanges, which answer requests by method, URL, content and chosen fields. Equal requests get their
/// answers in order, and the last one again and again.
package struct RecordedReplies: Sendable {
    private struct Key: Hashable {
        let method: String
        let url: String
        let content: Data
        let fields: [[String]]
    }

    /// The fields on which the meaning of such a status depends (RFC 9110 §13, §14).
    private static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .range, .ifRange,
    ]

    private struct Reply: Sendable {
        let entry: HTTPArchive.Entry
        let request: HTTPRequest

        /// Whether the answer may answer `request`. An answer to a condition or to a range answers only the same one.
        func answers(_ request: HTTPRequest) -> Bool {
            guard [206, 304, 412, 416].contains(entry.response.status) else { return true }
            return RecordedReplies.conditions.allSatisfy { name in
                self.request.headerFields[values: name] == request.headerFields[values: name]
            }
        }
    }

    private let fields: [HTTPField.Name]
    private let redaction: Redaction
    private var waiting: [Key: [Reply]] = [:]
    private var given: [Key: [Reply]] = [:]

    /// Omits entries without an answer. A request must share the values of `fields` with a recorded one.
    package init(_ entries: [HTTPArchive.Entry], matching fields: [HTTPField.Name], _ redaction: Redaction) {
        self.fields = fields
        self.redaction = redaction
        for entry in entries where entry.hasAnswer {
            guard let request = entry.httpRequest else { continue }
            let content = try? entry.requestContent()
            waiting[key(request, content), default: []].append(Reply(entry: entry, request: request))
        }
    }

    /// Returns the next answer to a request, if one is recorded. Throws if the file lacks the body of the answer.
    package mutating func next(
        to request: HTTPRequest, content: Data?
    ) throws(ArchiveError) -> RecordedExchange? {
        let key = key(request, content)
        guard let index = waiting[key]?.firstIndex(where: { $0.answers(request) }),
            let reply = waiting[key]?.remove(at: index)
        else { return try given[key]?.last { $0.answers(request) }?.entry.exchange() }
        given[key, default: []].append(reply)
        return try reply.entry.exchange()
    }

    private func key(_ request: HTTPRequest, _ content: Data?) -> Key {
        Key(
            method: request.method.rawValue, url: redaction.redactedURL(request.absoluteURL),
            content: content ?? Data(),
            fields: fields.map { name in
                request.headerFields[values: name].map { redaction.redactedValue($0, of: name.canonicalName) }
            })
    }
}
