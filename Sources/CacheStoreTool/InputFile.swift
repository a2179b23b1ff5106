import Foundation

/// A file or the standard input, read once from beginning to end.
final class InputFile: Sendable {
    private static let chunkByteCount = 262_144

    let path: String
    private let descriptor: Int32

    /// - Parameter path: The path of a file, or `-` for the standard input.
    init(path: String) throws(Failure) {
        self.path = path == "-" ? "the standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY)
        guard descriptor >= 0 else { throw .system(path, errno: errno) }
    }

    deinit {
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// Returns the next bytes, or none at the end. Blocks.
    func nextChunk() throws(Failure) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunkByteCount) { buffer, initializedCount in
            var count = 0
            repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
            if count < 0 { code = errno }
            initializedCount = max(0, count)
        }
        guard code == 0 else { throw .system(path, errno: code) }
        return bytes
    }

    /// The offset of the next bytes in a regular file, or `nil` for an input that can be read only once.
    var position: off_t? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let position = lseek(descriptor, 0, SEEK_CUR)
        return position >= 0 ? position : nil
    }

    func seek(to position: off_t) throws(Failure) {
        guard lseek(descriptor, position, SEEK_SET) >= 0 else { throw .system(path, errno: errno) }
    }
}
