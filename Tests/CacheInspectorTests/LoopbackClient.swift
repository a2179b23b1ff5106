import Dispatch
import TestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sends raw bytes that an HTTP library would refuse: wrong hosts, wrong origins, huge fields.
struct LoopbackClient: Sendable {
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    let port: UInt16
    /// The address in network byte order.
    var host: UInt32 = 0x7F00_0001

    /// Sends `text` and returns the reply, up to `end` or until the server closes.
    func send(_ text: String, until end: String? = nil) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "client").async {
                continuation.resume(with: Result { try exchange(Array(text.utf8), until: end.map { Array($0.utf8) }) })
            }
        }
    }

    private func exchange(_ bytes: [UInt8], until end: [UInt8]?) throws -> String {
        #if canImport(Glibc)
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let file = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(call: "connect", number: errno) }
        var sent = 0
        // A server that refuses a request replies before it has read the rest.
        while sent < bytes.count, !Self.hasAnswer(file) {
            #if canImport(Darwin)
            let count = bytes[sent...].withUnsafeBytes { Darwin.send(file, $0.baseAddress, $0.count, 0) }
            #else
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = bytes[sent...].withUnsafeBytes { Self.sendSome(file, $0.baseAddress, $0.count, flags) }
            #endif
            if count < 0, errno != EAGAIN { break }
            sent += max(0, count)
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            received += buffer[..<count]
            if let end, received.contains(end) { break }
        }
        return String(decoding: received, as: UTF8.self)
    }

    /// Waits until the server accepts bytes or replies. Returns whether it replied.
    private static func hasAnswer(_ file: Int32) -> Bool {
        var state = pollfd(fd: file, events: Int16(POLLIN | POLLOUT), revents: 0)
        return poll(&state, 1, -1) > 0 && Int32(state.revents) & Int32(POLLIN) != 0
    }

    #if !canImport(Darwin)
    /// The system function, which a method here shadows.
    private static func sendSome(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
        #if canImport(Glibc)
        Glibc.send(file, bytes, count, flags)
        #else
        Musl.send(file, bytes, count, flags)
        #endif
    }
    #endif
}
