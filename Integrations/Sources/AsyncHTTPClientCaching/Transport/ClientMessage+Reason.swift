internal import AsyncHTTPClient
internal import CacheLoader
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension TransportError {
    /// Returns a readable reason for a failure. The descriptions of most errors are names of Swift types and cases.
    static func reason(of error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            error.shortDescription
        case let error as NIOConnectionError:
            (error.connectionErrors.first?.error ?? error.dnsAError ?? error.dnsAAAAError).map { reason(of: $0) }
                ?? "\(error.host) cannot be reached"
        case let error as SocketAddressError.UnknownHost:
            "there is no host \(error.host)"
        case let error as IOError:
            String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout:
            "no connection in time"
        case is ChannelError:
            "the connection was closed"
        case HTTPParserError.invalidEOFState:
            "the connection was closed before the end of the response"
        case is HTTPParserError, is NIOHTTPDecoderError:
            "the response is not valid HTTP"
        default:
            reasonOfTLS("\(error)") ?? "\(error)"
        }
    }

    /// Returns the reason of a failed TLS handshake, or `nil` for the text of another error.
    private static func reasonOfTLS(_ text: String) -> String? {
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("unableToValidateCertificate") {
            return "the certificate of the server is not trusted"
        }
        if text.contains("failedToValidateHostname") { return "the certificate of the server is for other hosts" }
        if text.contains("handshakeFailed") { return "the TLS handshake failed" }
        if text.contains("uncleanShutdown") { return "the connection was closed without the end that TLS requires" }
        return nil
    }
}
