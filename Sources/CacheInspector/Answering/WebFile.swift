import ByteText
import CInspectorPage
import HTTPTypes

/// A file of the page, embedded in the program.
struct WebFile: Sendable {
    let bytes: [UInt8]
    /// Changes with the content.
    let entityTag: String

    private init(_ file: cinspectorpage_file) {
        bytes = Array(String(cString: file.text).utf8)
        entityTag = "\"\(String(FNV1a.hash(bytes), radix: 16))\""
    }

    /// The files by name.
    private static let all: [String: WebFile] = {
        var count = 0
        let files = cinspectorpage_files(&count)
        return Dictionary(
            uniqueKeysWithValues: UnsafeBufferPointer(start: files, count: count).map {
                (String(cString: $0.name), WebFile($0))
            })
    }()

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml", "json": "application/json", "txt": "text/plain; charset=utf-8",
    ]

    /// Permits only the page's files and requests to the inspector: no inline code, other hosts or frames around it.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// Returns a file, or the page for an empty name. Looks the name up in a table: no path reaches a file system.
    static func answer(named name: String, ifNoneMatch: String?) throws(InspectorFailure) -> InspectorResponse {
        let wanted = name.isEmpty ? "index.html" : name
        guard let file = all[wanted] else {
            throw .notFound("there is nothing at this path")
        }
        let type = types[String(wanted.split(separator: ".").last ?? "")] ?? "text/plain; charset=utf-8"
        var answer = InspectorResponse(type: type, .bytes(file.bytes))
        if ifNoneMatch == file.entityTag { answer = InspectorResponse(status: .notModified, type: type, .bytes([])) }
        answer.fields[.eTag] = file.entityTag
        answer.fields[.cacheControl] = "no-cache"
        answer.fields[.contentSecurityPolicy] = policy
        return answer
    }
}
