internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Between a stored response as HTTP sees it and an entry as the store keeps it.
enum EntryCodec {
    /// The response that an entry holds.
    static func response(of entry: StoredEntry) -> StoredResponse {
        let metadata = entry.metadata
        return StoredResponse(
            status: HTTPResponse.Status(stored: metadata.status),
            fields: fields(ofHead: metadata.head),
            requestTime: HTTPDate(metadata.requestedAt),
            responseTime: HTTPDate(metadata.receivedAt),
            varyKey: VaryKey(text: metadata.variant),
            // A part that is not inside its whole has been tampered with.
            hasIntactBody: hasUsablePart(entry),
            isBodyDecoded: metadata.isBodyDecoded,
            part: metadata.part.flatMap { part in
                ByteRange(first: part.start, end: part.start.saturatingAdding(entry.byteCount))
                    .flatMap { StoredPart(range: $0, completeLength: part.completeLength) }
            })
    }

    private static func hasUsablePart(_ entry: StoredEntry) -> Bool {
        guard let part = entry.metadata.part else { return true }
        let (end, overflow) = part.start.addingReportingOverflow(entry.byteCount)
        return !overflow && entry.byteCount > 0 && end <= part.completeLength ?? .max
    }

    /// What the store is to know of a response.
    static func metadata(
        of response: StoredResponse, policy: CachePolicy, requestedAt: Date, receivedAt: Date
    ) -> EntryMetadata {
        EntryMetadata(
            kind: response.status.code >= 400 ? .error : .content,
            variant: response.varyKey.text,
            status: response.status.code,
            etag: response.fields[.eTag],
            lastModified: response.fields[.lastModified],
            contentType: response.fields[.contentType],
            requestedAt: requestedAt,
            receivedAt: receivedAt,
            expiresAt: Freshness(of: response, policy: policy).expiry.map(Date.init),
            isBodyDecoded: response.isBodyDecoded,
            head: head(of: response.fields),
            part: response.part.map { EntryPart(start: $0.range.first, completeLength: $0.completeLength) },
            groups: CacheGroups(response.fields).names)
    }

    // MARK: Field lines

    /// A line each, `Name: value`; the bytes of the value as they are (RFC 9110 §5.5 allows others than UTF-8).
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

    /// The fields of a head, in order. A line that is none, as in an index that was tampered with, is passed over.
    static func fields(ofHead head: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        var (lineCount, start) = (0, 0)
        // No more than are stored: HTTPFields traps at 65,536. Each hit comes through here, so no lines are collected first.
        while start < head.count, lineCount < Storability.maxFieldCount {
            let line = head[start..<(head[start...].firstIndex(of: UInt8(ascii: "\n")) ?? head.count)]
            start = line.endIndex + 1
            guard !line.isEmpty else { continue }
            lineCount += 1
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { continue }
            let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
            fields.append(HTTPField(name: name, lenientValue: value))
        }
        return fields
    }
}
