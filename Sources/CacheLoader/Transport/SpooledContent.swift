#if URLSessionTransport
internal import Foundation
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A request's content in a temporary file, which is removed when this goes.
///
/// Only its owner can read the file. It needs a name: `URLSession` on Linux asks for the length by name, and of a link to an
/// unnamed file it would learn the length of the link.
final class SpooledContent: Sendable {
    let url: URL

    /// Reads `content` to its end. Writes on the caller's thread, into the cache of the system.
    init(_ content: RequestContent) async throws(TransportError) {
        let (file, url) = try Self.makeFile()
        // From here on `deinit` removes the file, whatever is thrown.
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
        // mkstemp(3) wants six X, and puts letters in their place.
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
