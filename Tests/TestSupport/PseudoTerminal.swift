/// A terminal without a screen: the test reads the bytes that a program writes to it (pty(7)).
final class PseudoTerminal: Sendable {
    private let main: FileHandle
    /// The program's end of the terminal.
    let end: FileHandle

    /// - Parameter width: The columns.
    init(width: Int) throws {
        var (main, end): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: 24, ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
        #if canImport(Darwin)
        let result = openpty(&main, &end, nil, nil, &size)
        #else
        guard let openpty = Self.openpty else { throw POSIXError(.ENOSYS) }
        let result = openpty(&main, &end, nil, nil, &size)
        #endif
        guard result == 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        self.main = FileHandle(fileDescriptor: main, closeOnDealloc: true)
        self.end = FileHandle(fileDescriptor: end, closeOnDealloc: true)
    }

    #if !canImport(Darwin)
    /// openpty(3). glibc has this function, but Swift does not import it.
    private static var openpty: OpenTerminal? { dlsym(nil, "openpty").map { unsafeBitCast($0, to: OpenTerminal.self) } }

    private typealias OpenTerminal =
        @convention(c) (
            UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<CChar>?, UnsafeRawPointer?,
            UnsafePointer<winsize>
        ) -> Int32
    #endif

    /// Returns the written bytes, with line feeds as the program wrote them. Call this after closing ``end``; waits
    /// until the program has closed it, too.
    ///
    /// - Parameter seeing: Receives the bytes so far as text, after each read.
    func written(seeing: @escaping @Sendable (String) -> Void = { _ in }) async -> Data {
        await withCheckedContinuation { caller in
            Thread.detachNewThread { [main] in
                var written: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: 65_536)
                // Linux reports EIO once all ends for programs are closed, other systems the end of the file.
                while true {
                    let count = read(main.fileDescriptor, &chunk, chunk.count)
                    if count > 0 {
                        written += chunk[..<count]
                        seeing(String(decoding: written, as: UTF8.self))
                    } else if count == 0 || errno != EINTR {
                        break
                    }
                }
                // The terminal writes a carriage return before a line feed.
                let text = String(decoding: written, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
                caller.resume(returning: Data(text.utf8))
            }
        }
    }
}
