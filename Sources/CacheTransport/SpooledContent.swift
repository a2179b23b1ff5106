#if canImport(Darwin)
internal import Darwin
internal import Foundation

/// The content of a request in a temporary file, removed together with this object. Only the owner of the file can read
/// it. The file needs a name: `URLSession` on Linux queries the length by name. For a link to an unnamed file the
/// result would be the length of the link.
final class SpooledContent: Sendable {
    let url: URL

    /// Reads `content` to its end. Writes on the caller's thread, into the page cache of the system.
    init(_ content: RequestContent) async throws(TransportError) {
        let (file, url) = try Self.makeFile()
        // From here on `deinit` removes the file, even after an error.
        self.url = url
        while let chunk = try await content.next() {
            guard !Task.isCancelled else { throw TransportError(.cancelled) }
            try Self.write(chunk, to: file)
        }
    }

    deinit {
        unlink(url.path)
    }

    private static func makeFile() throws(TransportError) -> (FileHandle, URL) {
        // mkstemp(3) replaces the six X.
        let pattern = FileManager.default.temporaryDirectory.appendingPathComponent("CacheStoreContent-XXXXXX").path
        var name = Array(pattern.utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else {
            throw TransportError(
                .other, message: "no temporary file for the content: \(String(cString: strerror(errno)))")
        }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), URL(fileURLWithPath: path))
    }

    private static func write(_ chunk: Data, to file: FileHandle) throws(TransportError) {
        do {
            try file.write(contentsOf: chunk)
        } catch {
            throw TransportError(.other, message: "the content could not be spooled: \(error)")
        }
    }
}
#endif
