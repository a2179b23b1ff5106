internal import CacheCodings
package import CacheFoundation
package import CacheTransport

/// A request and its response, as they travel.
package struct RecordedExchange: Sendable {
    package var request: HTTPRequest
    package var content: Data?
    package var response: HTTPResponse
    package var body: Data
    /// Whether `body` is decoded although the response has arrived in a content coding. Then the fields do not describe
    /// the encoded bytes.
    package var isBodyDecoded: Bool
    package var date: Date
    package var duration: Duration

    package init(
        request: HTTPRequest, content: Data?, response: HTTPResponse, body: Data, isBodyDecoded: Bool, date: Date,
        duration: Duration
    ) {
        self.request = request
        self.content = content
        self.response = response
        self.body = body
        self.isBodyDecoded = isBodyDecoded
        self.date = date
        self.duration = duration
    }
}

extension HTTPArchive.Entry {
    /// The text of the body is decoded, as HAR 1.2 expects. A body in an unknown coding, or of more than `decodedLimit`
    /// decoded bytes, is kept as it is, and marked.
    package init(_ exchange: RecordedExchange, decodedLimit: Int64 = 1 << 28) {
        let (request, response) = (exchange.request, exchange.response)
        let isCoded = response.headerFields.contains(.contentEncoding) && !exchange.body.isEmpty
        let decoded =
            isCoded
            ? try? ContentCoding.decode(exchange.body, response.headerFields, limit: decodedLimit) : exchange.body
        let body = decoded ?? exchange.body
        let (text, encoding) = ArchivedText.text(of: body)
        let content = exchange.content.map { ArchivedText.text(of: $0) }
        let milliseconds = Double(exchange.duration.components.attoseconds) / 1e15
        self.init(
            startedDateTime: exchange.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            time: (Double(exchange.duration.components.seconds) * 1000 + milliseconds).rounded(),
            request: HTTPArchive.Request(
                method: request.method.rawValue, url: request.absoluteURL, headers: Self.archived(request.headerFields),
                postData: content.map { text, encoding in
                    HTTPArchive.PostData(
                        mimeType: request.headerFields[.contentType] ?? "application/octet-stream", text: text,
                        encoding: encoding)
                }),
            response: HTTPArchive.Response(
                status: response.status.code, statusText: response.status.reasonPhrase,
                headers: Self.archived(response.headerFields),
                content: HTTPArchive.Content(
                    size: Int64(body.count), mimeType: response.headerFields[.contentType] ?? "x-unknown",
                    text: text, encoding: encoding,
                    isCoded: isCoded && decoded == nil ? true : nil)))
    }

    private static func archived(_ fields: HTTPFields) -> [HTTPArchive.Field] {
        fields.map { HTTPArchive.Field(name: $0.name.rawName, value: $0.value) }
    }

    /// The exchange, or `nil` for an entry that is none: a failed request, a WebSocket, a `data:` URL. The fields of a
    /// response with a decoded body do not describe the encoded bytes.
    package func exchange() throws(ArchiveError) -> RecordedExchange? {
        guard hasAnswer, let request = httpRequest else { return nil }
        guard var fields = Self.fields(response.headers) else {
            throw ArchiveError(reason: "the response has too many fields")
        }
        let body = try bytes(fields)
        let isCoded = response.content.isCoded ?? false
        let isBodyDecoded = !isCoded && mayHaveBody && fields.contains(.contentEncoding)
        if isBodyDecoded {
            fields.removeEncodedDescription()
        } else if mayHaveBody, let length = fields[.contentLength], length != String(body.count) {
            // Another program may have edited the text.
            fields[.contentLength] = String(body.count)
        }
        // The body is not framed any more (RFC 9112 §6.1).
        fields[.transferEncoding] = nil
        let status = HTTPResponse.Status(code: response.status, reasonPhrase: response.statusText ?? "")
        return RecordedExchange(
            request: request, content: try requestContent(),
            response: HTTPResponse(status: status, headerFields: fields),
            body: body, isBodyDecoded: isBodyDecoded, date: date, duration: .milliseconds(min(max(time ?? 0, 0), 1e12)))
    }

    /// The start of the request. The reference date if its text is not ISO 8601.
    package var date: Date {
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        return styles.lazy.compactMap { try? Date(startedDateTime, strategy: $0) }.first
            ?? Date(timeIntervalSinceReferenceDate: 0)
    }

    package var hasAnswer: Bool { (200...599).contains(response.status) }

    /// The head of the request. `nil` for another scheme than `http` and `https`, and for an invalid method.
    package var httpRequest: HTTPRequest? {
        guard let method = HTTPRequest.Method(request.method), let url = ArchivedURL(request.url),
            let fields = Self.fields(request.headers)
        else { return nil }
        return HTTPRequest(
            method: method, scheme: url.scheme, authority: url.authority, path: url.path,
            headerFields: fields)
    }

    func requestContent() throws(ArchiveError) -> Data? {
        guard let data = request.postData, let text = data.text else { return nil }
        return try ArchivedText.bytes(text, encoding: data.encoding, size: nil, contentType: nil)
    }

    /// RFC 9110 §6.4.1. Browsers record the body of their own cache with a 304.
    private var mayHaveBody: Bool { request.method != "HEAD" && ![204, 304].contains(response.status) }

    private func bytes(_ fields: HTTPFields) throws(ArchiveError) -> Data {
        let content = response.content
        guard mayHaveBody else { return Data() }
        if let text = content.text {
            return try ArchivedText.bytes(
                text, encoding: content.encoding, size: content.size,
                contentType: fields[.contentType] ?? content.mimeType)
        }
        // Browsers do not keep the bodies of redirects.
        if (300...399).contains(response.status) || content.size == 0 && (fields[.contentLength] ?? "0") == "0" {
            return Data()
        }
        throw ArchiveError(reason: "the archive lacks the body\(content.size.map { " of \($0) bytes" } ?? "")")
    }

    /// The most field lines of a message.
    private static let maxFieldCount = 1000

    /// Omits pseudo-fields of HTTP/2, which browsers record with the fields. Browsers join the lines of a field by
    /// newlines. Returns `nil` for too many lines.
    private static func fields(_ fields: [HTTPArchive.Field]) -> HTTPFields? {
        var result = HTTPFields()
        for field in fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            for value in field.value.split(separator: "\n", omittingEmptySubsequences: false) {
                guard result.count < maxFieldCount else { return nil }
                result.append(HTTPField(name: name, value: String(value)))
            }
        }
        return result
    }
}

/// The parts of the URL of an entry.
private struct ArchivedURL {
    let scheme: String
    let authority: String
    let path: String

    /// Returns `nil` for another scheme than `http` and `https`. Omits a user and the fragment.
    init?(_ text: String) {
        guard let colon = text.firstRange(of: "://") else { return nil }
        scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[colon.upperBound...].prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        authority = rest[..<end].split(separator: "@").last.map { $0.lowercased() } ?? ""
        let target = String(rest[end...])
        path = target.hasPrefix("/") ? target : "/" + target
        if authority.isEmpty { return nil }
    }
}

extension HTTPRequest {
    /// The URL of a request with scheme, authority and path.
    package var absoluteURL: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "")" }
}
