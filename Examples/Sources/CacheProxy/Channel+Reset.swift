internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Channel {
    /// Ends the connection so that the other side sees an error, and not an end.
    func reset() {
        guard let socket = self as? any SocketOptionProvider else { return close(promise: nil) }
        // Closing a socket that lingers for no time sends RST in place of FIN.
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in self.close(promise: nil) }
    }
}
