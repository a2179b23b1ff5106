/// Media types by file name extension.
enum ContentType {
    /// Returns the type of the file at `path`, or `application/octet-stream` for an unknown extension.
    static func of(path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        return byExtension[name[name.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let byExtension = [
        "css": "text/css",
        "gif": "image/gif",
        "gz": "application/gzip",
        "htm": "text/html",
        "html": "text/html",
        "ico": "image/vnd.microsoft.icon",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg",
        "js": "text/javascript",
        "json": "application/json",
        "md": "text/markdown",
        "pdf": "application/pdf",
        "png": "image/png",
        "svg": "image/svg+xml",
        "swift": "text/plain",
        "txt": "text/plain",
        "wasm": "application/wasm",
        "webp": "image/webp",
        "woff2": "font/woff2",
        "xml": "application/xml",
        "zip": "application/zip",
    ]
}
