public import CacheFoundation
internal import Crypto

/// A key that authenticates the records of a tier. Its description shows no secret.
public struct TierKey: Sendable {
    enum Kind: Sendable {
        case hmac(SymmetricKey)
        case signing(Curve25519.Signing.PrivateKey)
        case verifying(Curve25519.Signing.PublicKey)
    }

    /// The name of the key, which each record carries.
    public let id: String
    let kind: Kind

    private init(id: String, _ kind: Kind) throws(TierError) {
        guard (1...64).contains(id.utf8.count) else { throw .invalidKey(id: id) }
        self.id = id
        self.kind = kind
    }

    /// Returns a key for HMAC-SHA-256. Each machine that reads can also write.
    ///
    /// - Parameters:
    ///   - id: The name of the key: 1 to 64 bytes.
    ///   - secret: At least 32 random bytes.
    /// - Throws: ``TierError/invalidKey(id:)``.
    public static func hmac(id: String, secret: Data) throws(TierError) -> TierKey {
        guard secret.count >= 32 else { throw .invalidKey(id: id) }
        return try TierKey(id: id, .hmac(SymmetricKey(data: secret)))
    }

    /// Returns a key that writes and reads records with Ed25519.
    ///
    /// - Parameters:
    ///   - id: The name of the key: 1 to 64 bytes.
    ///   - privateKey: The 32 bytes of the private key.
    /// - Throws: ``TierError/invalidKey(id:)``.
    public static func ed25519(id: String, privateKey: Data) throws(TierError) -> TierKey {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: privateKey) else {
            throw .invalidKey(id: id)
        }
        return try TierKey(id: id, .signing(key))
    }

    /// Returns a key that reads records with Ed25519 and cannot write.
    ///
    /// - Parameters:
    ///   - id: The name of the key: 1 to 64 bytes.
    ///   - publicKey: The 32 bytes of the public key.
    /// - Throws: ``TierError/invalidKey(id:)``.
    public static func ed25519(id: String, publicKey: Data) throws(TierError) -> TierKey {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else {
            throw .invalidKey(id: id)
        }
        return try TierKey(id: id, .verifying(key))
    }

    /// Returns the proof of `message`, or `nil` for a key that only reads.
    func proof(of message: Data) -> Data? {
        switch kind {
        case .hmac(let key): Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
        case .signing(let key): try? key.signature(for: message)
        case .verifying: nil
        }
    }

    func isProof(_ proof: Data, of message: Data) -> Bool {
        switch kind {
        case .hmac(let key): HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: message, using: key)
        case .signing(let key): key.publicKey.isValidSignature(proof, for: message)
        case .verifying(let key): key.isValidSignature(proof, for: message)
        }
    }
}

extension TierKey: CustomStringConvertible, CustomReflectable {
    /// The name of the key, without a secret.
    public var description: String { "TierKey(\(id))" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The keys of a tier: one for the names of objects, one that writes, and all that may have written.
///
/// For a rotation, first give all machines the new key in `reading`. Then let it write, and keep the old key in
/// `reading` as long as its records are fresh. A machine without the key of a removal finds no response of its scope.
public struct TierKeys: Sendable {
    let names: SymmetricKey
    let writing: TierKey?
    let reading: [String: TierKey]

    /// Creates the keys of a tier.
    ///
    /// - Parameters:
    ///   - names: At least 32 random bytes that all machines share. They turn URLs into names of objects, and must
    ///     never change: with another secret the tier is empty.
    ///   - writing: The key that authenticates new records, or `nil` for a machine that only reads.
    ///   - reading: Additional accepted keys.
    /// - Throws: ``TierError/invalidKey(id:)`` with `names` for a short secret.
    public init(names: Data, writing: TierKey?, reading: [TierKey] = []) throws(TierError) {
        guard names.count >= 32 else { throw .invalidKey(id: "names") }
        self.names = SymmetricKey(data: names)
        self.writing = writing
        self.reading = Dictionary(
            (reading + [writing].compactMap { $0 }).map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    }

    /// Creates the keys of a tier from one secret, for machines that all read and write.
    ///
    /// - Parameter secret: At least 32 random bytes that all machines share.
    /// - Throws: ``TierError/invalidKey(id:)`` with `secret` for a short secret.
    public init(secret: Data) throws(TierError) {
        guard secret.count >= 32 else { throw .invalidKey(id: "secret") }
        func key(_ purpose: String) -> Data {
            let derived = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: secret), info: Data("cachetier \(purpose)".utf8),
                outputByteCount: 32)
            return derived.withUnsafeBytes { Data($0) }
        }
        try self.init(names: key("names"), writing: .hmac(id: "secret", secret: key("records")))
    }

    /// Creates the same names with another key for writing and more for reading. The key of `other` still reads.
    init(_ other: TierKeys, writing: TierKey?, reading: [TierKey]) {
        names = other.names
        self.writing = writing
        self.reading = other.reading.merging(
            (reading + [writing].compactMap { $0 }).map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    }

    var canWrite: Bool {
        if case .verifying? = writing?.kind { return false }
        return writing != nil
    }
}

extension TierKeys: CustomStringConvertible, CustomReflectable {
    /// The text "TierKeys", without a secret.
    public var description: String { "TierKeys" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
