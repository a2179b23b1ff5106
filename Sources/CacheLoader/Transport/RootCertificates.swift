#if AsyncHTTPClient
internal import NIOSSL

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Certificates of authorities that a transport trusts in addition to those of the system, such as a private authority.
public struct RootCertificates: Hashable, Sendable {
    let certificates: [NIOSSLCertificate]

    /// Reads all certificates of a PEM file, on the caller's thread.
    ///
    /// The file is read once. Text outside of the certificates is ignored.
    ///
    /// - Throws: ``RootCertificateError``.
    public init(pemFile path: String) throws(RootCertificateError) {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            throw .unreadableFile(
                path: path, reason: cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)")
        }
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(bytes))
        } catch {
            throw .invalidCertificates(path: path)
        }
    }
}

/// The reason why a file of certificates cannot be used.
@nonexhaustive
public enum RootCertificateError: Error, Hashable, Sendable {
    /// The file cannot be read, for the given reason.
    case unreadableFile(path: String, reason: String)
    /// The file contains no certificate in PEM, or a damaged one.
    case invalidCertificates(path: String)
}

extension RootCertificateError: CustomStringConvertible {
    /// The error and its path.
    public var description: String {
        switch self {
        case .unreadableFile(let path, let reason): "\(path.prefix(200).debugDescription) cannot be read: \(reason)"
        case .invalidCertificates(let path):
            "\(path.prefix(200).debugDescription) contains no certificate in PEM, or a damaged one"
        }
    }
}
#endif
