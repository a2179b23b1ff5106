package import Foundation

/// The unbuffered standard output. Avoids `print`, which buffers the output to a pipe. Each write is complete when the
/// method returns.
enum StandardOutput {
    /// The reader has closed the pipe.
    struct ReaderIsGone: Error {}

    /// Ignores SIGPIPE: after the reader has closed the pipe, a write throws an error instead of ending the process.
    static func survivesItsReader() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Throws: ``ReaderIsGone``, ``Failure``.
    static func write(_ bytes: some ContiguousBytes) throws {
        switch bytes.writeAll(to: STDOUT_FILENO) {
        case 0: return
        case EPIPE: throw ReaderIsGone()
        case let code: throw Failure.system("the standard output", errno: code)
        }
    }

    /// Fails if the standard output is a terminal and the bytes are binary: control characters could change its state.
    static func refuseOnTerminal(_ bytes: some DataProtocol, of url: String, remedy: String) throws(Failure) {
        guard Terminal.ofOutput != nil, bytes.isBinary else { return }
        throw Failure(.no, "\(url): the body is binary, and can disturb a terminal; \(remedy)")
    }

    /// Writes text and a line feed.
    static func write(line: String) throws {
        try write(Array("\(line)\n".utf8))
    }
}

/// The standard error. Ignores write errors, because no other channel could report them.
enum StandardError {
    /// Writes a message on one line, after the name of the tool.
    static func say(_ message: String) {
        let lines = message.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix { $0 == " " } }
        write("cachestore: \(lines.joined(separator: " ").inOneLine)\n")
    }

    static func write(_ text: String) {
        _ = Array(text.utf8).writeAll(to: STDERR_FILENO)
    }
}

extension DataProtocol {
    /// Whether the first bytes have a control character unusual in texts. curl also reads 2,000 bytes, for NUL only.
    package var isBinary: Bool {
        prefix(2_000).contains { byte in
            switch byte {
            // BEL, BS, TAB, LF, VT, FF, CR and ESC, as for file(1).
            case 7...13, 27: false
            case 0..<32, 127: true
            default: false
            }
        }
    }
}

extension ContiguousBytes {
    /// Writes all bytes to a descriptor. Returns 0 or `errno`.
    func writeAll(to descriptor: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = write(descriptor, part.baseAddress, part.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another process that shares the pipe has made it non-blocking.
                    var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wish, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}
