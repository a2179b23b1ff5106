public import CacheFoundation
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Certificates of authorities that a transport trusts in addition to those of the system, such as a private authority.
public struct RootCertificates: Hashable, Sendable {
    /// The certificates in PEM (RFC 7468), without the text around them.
    public let pem: Data

    /// Reads all certificates of a PEM file, on the caller's thread.
    ///
    /// The file is read once. Text outside of the certificates is ignored.
    ///
    /// - Throws: ``TransportError`` with the code ``TransportError/Code/insecure`` if the file cannot be read, contains
    ///   no certificate in PEM, or a damaged one.
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
        guard let pem = Self.certificates(in: String(decoding: bytes, as: UTF8.self)) else {
            throw TransportError(.insecure, message: "\(name) contains no certificate in PEM, or a damaged one")
        }
        self.pem = pem
    }

    /// Returns the certificates of a text, or `nil` without one, or if one is damaged.
    private static func certificates(in text: String) -> Data? {
        var result: [String] = []
        var certificate: [Substring]?
        for line in text.split(whereSeparator: \.isNewline) {
            switch line.trimmingPrefix(while: \.isWhitespace) {
            case let line where line.hasPrefix("-----BEGIN CERTIFICATE-----"):
                guard certificate == nil else { return nil }
                certificate = []
            case let line where line.hasPrefix("-----END CERTIFICATE-----"):
                guard let lines = certificate, isCertificate(base64: lines.joined()) else { return nil }
                result += ["-----BEGIN CERTIFICATE-----"] + lines.map(String.init) + ["-----END CERTIFICATE-----", ""]
                certificate = nil
            case let line:
                certificate?.append(line)
            }
        }
        return result.isEmpty || certificate != nil ? nil : Data(result.joined(separator: "\n").utf8)
    }

    /// Returns whether a text encodes one whole sequence of DER, as a certificate is (RFC 5280 §4.1).
    private static func isCertificate(base64 text: String) -> Bool {
        guard let bytes = Data(base64Encoded: text), bytes.count > 4, bytes[0] == 0x30 else { return false }
        let lengthByteCount = Int(bytes[1]) - 0x80
        guard (1...3).contains(lengthByteCount), bytes.count > 2 + lengthByteCount else { return false }
        let length = bytes[2..<2 + lengthByteCount].reduce(0) { $0 << 8 | Int($1) }
        return bytes.count == 2 + lengthByteCount + length
    }
}
