import HTTPTypes

/// A file of the page, in the program. `Scripts/embed-web` writes the list of all files.
struct WebFile: Sendable {
    let name: String
    let text: String

    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml", "json": "application/json", "txt": "text/plain; charset=utf-8",
    ]

    /// Nothing but the page's own files, and requests to the inspector: no inline code, no other host, no frame around it.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// Changes with the text.
    private var entityTag: String {
        let checksum = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\"\(String(checksum, radix: 16))\""
    }

    /// Returns a file; the page itself for an empty name. Looks the name up in a list: no path reaches a file system.
    static func answer(named name: String, ifNoneMatch: String?) throws(InspectorFailure) -> InspectorAnswer {
        let wanted = name.isEmpty ? "index.html" : name
        guard let file = all.first(where: { $0.name == wanted }) else {
            throw .notFound("there is nothing at this path")
        }
        let type = types[String(wanted.split(separator: ".").last ?? "")] ?? "text/plain; charset=utf-8"
        let tag = file.entityTag
        var answer = InspectorAnswer(type: type, .bytes(Array(file.text.utf8)))
        if ifNoneMatch == tag { answer = InspectorAnswer(status: .notModified, type: type, .bytes([])) }
        answer.fields[.eTag] = tag
        answer.fields[.cacheControl] = "no-cache"
        answer.fields[.contentSecurityPolicy] = policy
        return answer
    }
}
