internal import ByteText
internal import CacheFoundation

extension TierKeys {
    /// Reads the keys of a tier from a file, so that no process list and no shell history has them.
    ///
    /// The file has one line of hexadecimal digits for a secret (``init(secret:)``), or a line for each key:
    ///
    /// ```
    /// # The names of the objects never change.
    /// names 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
    /// write hmac 2026-11 202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f
    /// read hmac 2026-05 404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f
    /// ```
    ///
    /// `write` names the key of new records, with `ed25519` its private key; a machine without that line only reads.
    /// Each `read` names another accepted key, with `ed25519` its public key. In place of `names`, a line `secret` with
    /// the secret of a tier accepts its records, and also writes if there is no other key.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: ``TierError/environment(_:)`` with the path and the number of the line. It quotes no digits.
    public init(contentsOfFile path: String) throws(TierError) {
        guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8) else {
            throw .environment("the file of keys \(path) cannot be read")
        }
        var lines = KeyLines()
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            do throws(TierError) {
                try lines.add(line)
            } catch {
                throw .environment("\(path), line \(number + 1): \(error.description)")
            }
        }
        guard let keys = try lines.keys() else {
            throw .environment("\(path) needs a line with a secret, or one with names")
        }
        self = keys
    }

    /// The bytes of hexadecimal digits. `nil` for other text and for fewer than 32 bytes.
    static func bytes(_ digits: some StringProtocol) -> Data? {
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count >= 32 else { return nil }
        return Data(bytes)
    }
}

/// The lines of a file of keys.
private struct KeyLines {
    private var secret: Data?
    private var names: Data?
    private var writing: TierKey?
    private var reading: [TierKey] = []

    /// Throws ``TierError/environment(_:)`` with the form that the line should have.
    mutating func add(_ line: Substring) throws(TierError) {
        let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
        switch (words.first, words.count) {
        case (nil, _): break
        case (_, 1): secret = try bytes(words[0], of: secret)
        case ("secret", 2): secret = try bytes(words[1], of: secret)
        case ("names", 2): names = try bytes(words[1], of: names)
        case ("write", 4) where writing == nil: writing = try key(words, writes: true)
        case ("read", 4): reading.append(try key(words, writes: false))
        default: throw .environment("needs one secret or names, at most one write, and any number of read")
        }
    }

    /// Returns the keys, or `nil` without the secret of the names.
    func keys() throws(TierError) -> TierKeys? {
        guard let secret else {
            guard let names else { return nil }
            return try TierKeys(names: names, writing: writing, reading: reading)
        }
        let own = try TierKeys(secret: secret)
        let isAlone = writing == nil && reading.isEmpty
        return TierKeys(own, writing: isAlone ? own.writing : writing, reading: reading)
    }

    private func bytes(_ digits: Substring, of present: Data?) throws(TierError) -> Data {
        guard secret == nil, names == nil, present == nil else {
            throw .environment("the file already has a secret or names")
        }
        guard let bytes = TierKeys.bytes(digits) else { throw .environment("needs 64 hexadecimal digits or more") }
        return bytes
    }

    private func key(_ words: [Substring], writes: Bool) throws(TierError) -> TierKey {
        guard let bytes = TierKeys.bytes(words[3]) else { throw .environment("needs 64 hexadecimal digits or more") }
        let id = String(words[2])
        return switch words[1] {
        case "hmac": try .hmac(id: id, secret: bytes)
        case "ed25519": try writes ? .ed25519(id: id, privateKey: bytes) : .ed25519(id: id, publicKey: bytes)
        default: throw .environment("\(words[0]) needs hmac or ed25519")
        }
    }
}
