import Foundation

/// A file, or the standard input, read once from its beginning to its end.
final class InputFile {
    private static let chunkByteCount = 262_144

    let path: String
    let descriptor: Int32

    /// - Parameter path: `-` for the standard input.
    init(path: String) throws(Failure) {
        self.path = path == "-" ? "the standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY)
        guard descriptor >= 0 else { throw .system(path, errno: errno) }
    }

    deinit {
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkByteCount, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 {
                try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if count == 0 {
                return
            } else if errno != EINTR {
                throw Failure.system(path, errno: errno)
            }
        }
    }
}
