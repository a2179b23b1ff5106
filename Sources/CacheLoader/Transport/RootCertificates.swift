#if AsyncHTTPClient
internal import NIOSSL

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Certificates of authorities that a transport trusts in addition to those of the system, such as a private authority.
public struct RootCertificates: Hashable, Sendable {
    let certificates: [NIOSSLCertificate]

    /// Reads all certificates of a PEM file, on the caller's thread.
    ///
    /// The file is read once. Text outside of the certificates is ignored.
    ///
    /// - Throws: ``TransportError`` with the code ``TransportError/Code/insecure`` if the file cannot be read, contains no
    ///   certificate in PEM, or a damaged one.
    public init(pemFile path: String) throws(TransportError) {
        let name = path.prefix(200).debugDescription
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            let reason = cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
            throw TransportError(.insecure, message: "\(name) cannot be read: \(reason)")
        }
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(bytes))
        } catch {
            throw TransportError(
                .insecure, message: "\(name) contains no certificate in PEM, or a damaged one")
        }
    }
}
#endif
