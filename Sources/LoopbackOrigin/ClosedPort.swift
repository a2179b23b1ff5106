#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A TCP port of the loopback interface without a listener, so that the system refuses every connection.
///
/// Keeps the port bound while this object lives. The port of a stopped server would not do, because another test's
/// server may get it.
public final class ClosedPort: Sendable {
    /// The host and port, such as `127.0.0.1:49152`.
    public let authority: String

    private let descriptor: Int32

    /// Binds a port that the system chooses.
    public init() {
        #if canImport(Glibc) && !canImport(Darwin)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { [descriptor] bytes in
            guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
        }
        precondition(isBound, "the system has a free port")
        authority = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    deinit {
        close(descriptor)
    }

    /// Returns the absolute URL of `path`, which starts with a slash.
    public func url(_ path: String) -> String { "http://\(authority)\(path)" }
}
