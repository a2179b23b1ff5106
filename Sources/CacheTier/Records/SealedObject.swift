internal import CacheFoundation

/// An authenticated object, bound to its name.
///
///     "ct1" | length of key id: 1 | key id | length of proof: 1 | proof | payload
///
/// The proof covers a label, the name of the object and the payload. So an object under another name counts as forged.
enum SealedObject {
    /// The reason why an object is refused.
    enum Refusal: Error {
        case malformed, unknownKey, forged
    }

    private static let magic = Data("ct1".utf8)

    /// Returns the object with `payload`, or `nil` for keys that cannot write.
    static func sealing(_ payload: Data, as name: String, with keys: TierKeys) -> Data? {
        guard let key = keys.writing, let proof = key.proof(of: message(payload, name)) else { return nil }
        return magic + [UInt8(key.id.utf8.count)] + Data(key.id.utf8) + [UInt8(proof.count)] + proof + payload
    }

    static func opening(_ object: Data, as name: String, with keys: TierKeys) throws(Refusal) -> Data {
        var reader = ByteReader(object)
        guard reader.take(3) == magic, let idCount = reader.take(1)?.first, let id = reader.take(Int(idCount)),
            let proofCount = reader.take(1)?.first, let proof = reader.take(Int(proofCount))
        else { throw .malformed }
        let payload = reader.rest
        guard let key = keys.reading[String(decoding: id, as: UTF8.self)] else { throw .unknownKey }
        guard key.isProof(proof, of: message(payload, name)) else { throw .forged }
        return payload
    }

    private static func message(_ payload: Data, _ name: String) -> Data {
        // The length separates the name from the payload.
        Data("cachetier record 1\n\(name.utf8.count)\n\(name)".utf8) + payload
    }
}

/// Reads bytes from the front of an object.
struct ByteReader {
    private var slice: Data.SubSequence

    init(_ bytes: Data) {
        slice = bytes[...]
    }

    var rest: Data { Data(slice) }
    var restCount: Int { slice.count }

    /// Returns the next bytes, or `nil` for fewer remaining bytes.
    mutating func take(_ count: Int) -> Data? {
        guard count >= 0, slice.count >= count else { return nil }
        defer { slice = slice.dropFirst(count) }
        return Data(slice.prefix(count))
    }

    /// Returns the next four bytes as a number, the most significant first.
    mutating func takeNumber() -> Int? {
        take(4).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}

extension Data {
    /// Four bytes, the most significant first.
    init(number: Int) {
        self.init([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
    }
}
