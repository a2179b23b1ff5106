internal import CacheFoundation
internal import CacheStore

/// Converts between the stored response of HTTP and the entry of the store.
enum EntryCodec {
    static func response(of entry: StoredEntry) -> StoredResponse {
        let metadata = entry.metadata
        return StoredResponse(
            status: HTTPResponse.Status(stored: metadata.status),
            fields: fields(ofHead: metadata.head),
            requestTime: HTTPDate(metadata.requestedAt),
            responseTime: HTTPDate(metadata.receivedAt),
            varyKey: VaryKey(text: metadata.variant),
            // A part outside the announced whole shows that the index was altered.
            hasIntactBody: hasUsablePart(entry),
            isBodyDecoded: metadata.isBodyDecoded,
            part: metadata.part.flatMap { part in
                let end = max(part.start, part.start.saturatingAdding(entry.byteCount))
                return StoredPart(bytes: part.start..<end, completeLength: part.completeLength)
            })
    }

    private static func hasUsablePart(_ entry: StoredEntry) -> Bool {
        guard let part = entry.metadata.part else { return true }
        let (end, overflow) = part.start.addingReportingOverflow(entry.byteCount)
        return !overflow && entry.byteCount > 0 && end <= part.completeLength ?? .max
    }

    /// The columns are for queries; a field value that is not UTF-8 keeps its bytes only in the head.
    static func metadata(
        of response: StoredResponse, policy: CachePolicy, requestedAt: Date, receivedAt: Date
    ) -> EntryMetadata {
        EntryMetadata(
            kind: response.status.code >= 400 ? .error : .content,
            variant: response.varyKey.text,
            status: response.status.code,
            etag: response.fields.text(of: .eTag),
            lastModified: response.fields.text(of: .lastModified),
            contentType: response.fields.text(of: .contentType),
            requestedAt: requestedAt,
            receivedAt: receivedAt,
            expiresAt: Freshness(of: response, policy: policy).expiry.map(Date.init),
            isBodyDecoded: response.isBodyDecoded,
            head: head(of: response.fields),
            part: response.part.map { EntryPart(start: $0.bytes.lowerBound, completeLength: $0.completeLength) },
            groups: CacheGroups(response.fields).names)
    }

    // MARK: Field lines

    /// Encodes a line `Name: value` for each field, with the bytes of the value, which may not be UTF-8 (RFC 9110
    /// §5.5).
    static func head(of fields: HTTPFields) -> [UInt8] {
        var head: [UInt8] = []
        for field in fields {
            head.append(contentsOf: field.name.rawName.utf8)
            head.append(contentsOf: ": ".utf8)
            field.withUnsafeBytesOfValue { head.append(contentsOf: $0) }
            head.append(UInt8(ascii: "\n"))
        }
        return head
    }

    /// Returns the fields of a head, in order. Skips malformed lines, which an altered index may contain.
    static func fields(ofHead head: [UInt8]) -> HTTPFields {
        head.withUnsafeBufferPointer { head in
            var fields = HTTPFields()
            fields.reserveCapacity(16)
            var (lineCount, start) = (0, 0)
            // The limit matters because HTTPFields traps at 65,535 fields. Every hit runs this loop, so it makes no
            // array of lines, and searches each byte once.
            while start < head.count, lineCount < StorageDecision.maxFieldCount {
                let end = head[start...].firstIndex(of: UInt8(ascii: "\n")) ?? head.count
                let line = UnsafeBufferPointer(rebasing: head[start..<end])
                start = end + 1
                guard !line.isEmpty else { continue }
                lineCount += 1
                if let field = field(ofLine: line) { fields.append(field) }
            }
            return fields
        }
    }

    private static func field(ofLine line: UnsafeBufferPointer<UInt8>) -> HTTPField? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: UnsafeBufferPointer(rebasing: line[..<colon]), as: UTF8.self))
        else { return nil }
        let start = line[(colon + 1)...].firstIndex { $0 != UInt8(ascii: " ") } ?? line.count
        let value = UnsafeBufferPointer(rebasing: line[start...])
        // Most values are printable ASCII, which needs neither a lenient reading nor the validation of its encoding.
        if value.last != UInt8(ascii: " "), value.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
        }
        return HTTPField(name: name, lenientValue: value)
    }
}

extension HTTPResponse.Status {
    /// The index stores the code; the phrase comes from the registry, if it has one.
    init(stored code: Int) {
        self = Self.registered.first { $0.code == code } ?? Self(code: min(max(code, 0), 999))
    }

    /// Ordered by frequency. Building a table by code took a seventh of the first request of a process.
    private static let registered: [Self] = [
        .ok, .created, .accepted, .nonAuthoritativeInformation, .noContent, .resetContent, .partialContent,
        .multipleChoices, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect,
        .permanentRedirect, .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .notAcceptable,
        .proxyAuthenticationRequired, .requestTimeout, .conflict, .gone, .lengthRequired, .preconditionFailed,
        .contentTooLarge, .uriTooLong, .unsupportedMediaType, .rangeNotSatisfiable, .expectationFailed,
        .misdirectedRequest, .unprocessableContent, .tooEarly, .upgradeRequired, .preconditionRequired,
        .tooManyRequests, .requestHeaderFieldsTooLarge, .unavailableForLegalReasons, .internalServerError,
        .notImplemented, .badGateway, .serviceUnavailable, .gatewayTimeout, .httpVersionNotSupported,
        .networkAuthenticationRequired,
    ]
}
