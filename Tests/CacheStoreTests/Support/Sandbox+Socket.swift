import TestSupport

extension Sandbox {
    /// Creates a Unix domain socket at `url`.
    func makeSocket(at url: URL) throws {
        // The address of a socket has room for about 100 bytes, so bind a short name and move it.
        let short = directory.url.appending(path: "s")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isTooLong = withUnsafeMutableBytes(of: &address.sun_path) { path in
            let bytes = Array(short.path(percentEncoded: false).utf8)
            path.copyBytes(from: bytes.prefix(path.count - 1))
            return bytes.count >= path.count
        }
        try #require(!isTooLong)
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        let result = withUnsafeBytes(of: &address) { bytes in
            bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        try #require(result == 0)
        try FileManager.default.moveItem(at: short, to: url)
    }
}
