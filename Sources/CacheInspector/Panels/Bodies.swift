import CacheCodings
import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes

/// The presentation of a body on the page.
enum BodyPreview: String {
    case text, json, image, binary, empty
}

/// Guesses the presentation of a body, and from it a `Content-Type` that no browser executes.
struct BodySniffer {
    /// The number of bytes that a guess examines.
    static let headLength = 1_024

    /// The raster images that browsers show. Excludes SVG, which may contain scripts.
    private static let images: [(type: String, matches: @Sendable ([UInt8]) -> Bool)] = [
        ("image/png", { $0.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) }),
        ("image/jpeg", { $0.starts(with: [0xFF, 0xD8, 0xFF]) }),
        ("image/gif", { $0.starts(with: "GIF87a".utf8) || $0.starts(with: "GIF89a".utf8) }),
        ("image/bmp", { $0.starts(with: "BM".utf8) && $0.count > 14 }),
        ("image/webp", { $0.starts(with: "RIFF".utf8) && $0.dropFirst(8).starts(with: "WEBP".utf8) }),
        (
            "image/avif",
            { $0.dropFirst(4).starts(with: "ftypavif".utf8) || $0.dropFirst(4).starts(with: "ftypavis".utf8) }
        ),
    ]

    let preview: BodyPreview
    /// The content type to send.
    let type: String

    /// `head` is the beginning of the body without its content codings, `contentType` the field of the response.
    init(head: [UInt8], contentType: String?) {
        if head.isEmpty {
            (preview, type) = (.empty, "text/plain; charset=utf-8")
        } else if let image = Self.images.first(where: { $0.matches(head) }) {
            (preview, type) = (.image, image.type)
        } else if Self.isText(head) {
            let isJSON = contentType?.lowercased().contains("json") ?? false
            (preview, type) = (isJSON ? .json : .text, "text/plain; charset=utf-8")
        } else {
            (preview, type) = (.binary, "application/octet-stream")
        }
    }

    /// Whether the bytes are UTF-8 without control characters. Ignores the last character, which may be cut.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D || $0 == 0x0C }) else {
            return false
        }
        return (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }
}

extension StoreInspector {
    private static let maxTextByteCount: Int64 = 1 << 20
    private static let maxImageByteCount: Int64 = 16 << 20

    func preview(of entry: StoredEntry) throws -> BodyPreview {
        // Looking at an entry must not read a large body, even if no process has verified its digest yet.
        guard case .open(let body) = try store.openBody(of: entry, verifyingUpTo: Self.maxImageByteCount) else {
            return .binary
        }
        return try sniff(body, entry).preview
    }

    /// Whether the page shows the body without its content codings.
    func hasRemovableCoding(_ entry: StoredEntry) -> Bool {
        !entry.metadata.isBodyDecoded && ContentCoding.isKnown(entry.responseFields)
    }

    private func sniff(_ body: StoredBody, _ entry: StoredEntry) throws -> BodySniffer {
        let length = BodySniffer.headLength
        // A decoder may need more input than it returns bytes.
        let head =
            try decodedStart(of: body, entry, limit: Int64(length), reading: 1 << 16)?.bytes
            ?? Array(body.bytes(at: 0, count: length))
        return BodySniffer(head: head, contentType: entry.metadata.contentType)
    }

    /// Decodes up to `limit` bytes of at most `count` stored ones. `nil` if no coding is known or the decoding fails.
    private func decodedStart(
        of body: StoredBody, _ entry: StoredEntry, limit: Int64, reading count: Int64
    ) throws -> (bytes: [UInt8], isWhole: Bool)? {
        guard hasRemovableCoding(entry) else { return nil }
        let encoded = Data(try body.bytes(at: 0, count: Int(min(body.byteCount, count))))
        guard let start = ContentCoding.decodeStart(of: encoded, entry.responseFields, limit: limit) else { return nil }
        return (Array(start.bytes), start.isWhole && Int64(encoded.count) == body.byteCount)
    }

    /// Returns a body as text, as an image or as bytes, but never with the content type that the origin states. Removes
    /// the content codings, except for a download.
    func body(_ query: QueryParameters) throws -> InspectorResponse {
        let entry = try entry(named: query)
        guard let body = try store.openBody(of: entry) else {
            throw InspectorFailure.notFound("the body is missing or damaged")
        }
        let sniffer = try sniff(body, entry)
        let limit = try limit(query, sniffer)
        var answer = try answer(body, sniffer, query, name: "\(entry.id)")
        if try !query.bool("download"), let start = try decodedStart(of: body, entry, limit: limit, reading: limit) {
            answer.content = .bytes(start.bytes)
            answer.fields[named: "X-Body-Length"] = start.isWhole ? "\(start.bytes.count)" : nil
        }
        return answer
    }

    /// Returns the bytes of a derived representation.
    func derived(_ query: QueryParameters) throws -> InspectorResponse {
        let entry = try entry(named: query)
        guard let name = query.text("name") else { throw InspectorFailure.invalid("name is missing") }
        let rows = try store.query(
            "SELECT 1 FROM cache_derived WHERE entry_id = ? AND name = ?", [.integer(entry.id), .text(name)])
        guard !rows.isEmpty, let body = try store.openDerived(name: name, of: entry) else {
            throw InspectorFailure.notFound("there is no such derived representation")
        }
        let sniffer = BodySniffer(head: Array(try body.bytes(at: 0, count: BodySniffer.headLength)), contentType: nil)
        return try answer(body, sniffer, query, name: "\(entry.id)-derived")
    }

    /// The most bytes of an answer that is not a download.
    private func limit(_ query: QueryParameters, _ sniffer: BodySniffer) throws -> Int64 {
        let limit = try query.integer("max", in: 0...Self.maxTextByteCount) ?? 65_536
        return sniffer.preview == .image ? Self.maxImageByteCount : limit
    }

    private func answer(
        _ body: StoredBody, _ sniffer: BodySniffer, _ query: QueryParameters, name: String
    ) throws -> InspectorResponse {
        let isDownload = try query.bool("download")
        let count = isDownload ? .max : try limit(query, sniffer)
        var answer = InspectorResponse(
            type: isDownload ? "application/octet-stream" : sniffer.type,
            .body(body, count: min(body.byteCount, count)))
        // Puts a document of this response into a sandbox: no scripts, no forms, an opaque origin.
        answer.fields[.contentSecurityPolicy] = "sandbox; default-src 'none'; frame-ancestors 'self'"
        answer.fields[named: "X-Body-Length"] = "\(body.byteCount)"
        answer.fields[.contentDisposition] = isDownload ? "attachment; filename=\"body-\(name)\"" : "inline"
        return answer
    }
}
