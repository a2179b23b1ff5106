internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Channel {
    /// Ends the connection with an error that the other side can distinguish from a normal end.
    func reset() {
        guard let socket = self as? any SocketOptionProvider else { return close(promise: nil) }
        // With a linger time of zero, close(2) sends RST instead of FIN.
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in self.close(promise: nil) }
    }
}
