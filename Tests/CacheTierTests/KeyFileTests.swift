import CacheTier
import Crypto
import TestSupport

@Suite("Files with the keys of a tier") struct KeyFileTests {
    private static let (one, two, three) = (hex(1), hex(2), hex(3))

    private static func hex(_ byte: UInt8) -> String { hex(Data(repeating: byte, count: 32)) }
    private static func hex(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    private func keys(_ text: String) throws -> TierKeys {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "keys")
        try Data(text.utf8).write(to: file)
        return try TierKeys(environment: ["CACHESTORE_TIER_KEY_FILE": file.path(percentEncoded: false)])
    }

    /// Whether a machine with the second file answers with a response that a machine with the first file has written.
    private func shares(_ writer: String, _ reader: String) async throws -> Bool {
        let fleet = MemoryFleet { _, serial in .reply(200, [.cacheControl: "max-age=60"], "\(serial)") }
        try await fleet.machine(keys: keys(writer)).send("/a")
        return try await fleet.machine(keys: keys(reader)).send("/a").body == "1"
    }

    @Test("machines with files of one secret share responses; so does CACHESTORE_TIER_KEY", .requirement("T3"))
    func oneSecret() async throws {
        #expect(try await shares("# ours\n\n\(Self.one)  \n", "secret \(Self.one.uppercased())"))
        #expect(try await !shares(Self.one, Self.two))
        let fleet = MemoryFleet { _, serial in .reply(200, [.cacheControl: "max-age=60"], "\(serial)") }
        try await fleet.machine(keys: TierKeys(environment: ["CACHESTORE_TIER_KEY": Self.one])).send("/a")
        #expect(try await fleet.machine(keys: keys(Self.one)).send("/a").body == "1")
    }

    @Test("a rotation: the new key reads first, then writes, and the old one reads until it leaves", .requirement("T3"))
    func rotation() async throws {
        let names = "names \(Self.one)\n"
        let (old, new) = ("hmac old \(Self.two)\n", "hmac new \(Self.three)\n")
        let steps = [
            names + "write " + old, names + "write " + old + "read " + new, names + "write " + new + "read " + old,
            names + "write " + new,
        ]
        for (step, next) in zip(steps, steps.dropFirst()) {
            #expect(try await shares(step, next))
            #expect(try await shares(next, step))
        }
        #expect(try await !shares(steps[0], steps[3]))
        // From a secret to keys with names of their own.
        let secret = "secret \(Self.one)\n"
        #expect(try await shares(secret, secret + "write " + new))
        #expect(try await shares(secret + "write " + new, secret + "read " + new))
    }

    @Test("a machine with the public key only reads", .requirement("T3"))
    func reader() async throws {
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: Data(repeating: 7, count: 32))
        let writer = "names \(Self.one)\nwrite ed25519 k \(Self.hex(key.rawRepresentation))"
        let reader = "names \(Self.one)\nread ed25519 k \(Self.hex(key.publicKey.rawRepresentation))"
        #expect(try await shares(writer, reader))
        #expect(try await !shares(reader, writer))
        let tier = SharedTier(engine: InMemoryEngine(), keys: try keys(reader))
        let check = try await tier.check()
        #expect(!check.canWrite)
        await #expect(throws: TierError.readOnly) { try await tier.removeAll(in: .partition) }
    }

    @Test(
        "an error names the file and the line, and quotes no digits", .requirement("T3"),
        arguments: [
            ("", ""), ("# nothing", ""), ("write hmac k \(one)", ""), ("0f", ", line 1"), ("zz\(one)", ", line 1"),
            ("names \(one)\nnames \(one)", ", line 2"), ("secret \(one)\n\(two)", ", line 2"),
            ("names \(one)\nwrite rsa k \(two)", ", line 2"), ("names \(one)\nwrite hmac \(two)", ", line 2"),
            ("names \(one)\nwrite hmac a \(two)\nwrite hmac b \(two)", ", line 3"), ("password \(one)", ", line 1"),
            ("names \(one)\nread hmac \(String(repeating: "k", count: 65)) \(two)", ", line 2"),
        ])
    func errors(_ text: String, _ place: String) throws {
        let error = #expect(throws: TierError.self) { try keys(text) }
        let description = error?.description ?? ""
        #expect(description.contains("/keys\(place)"))
        for digits in [Self.one, Self.two] { #expect(!description.contains(digits)) }
    }

    @Test("a missing file is an error, an empty variable is none")
    func missing() throws {
        let path = try TemporaryDirectory().url.appending(path: "none").path(percentEncoded: false)
        #expect(throws: TierError.environment("the file of keys \(path) cannot be read")) {
            try TierKeys(environment: ["CACHESTORE_TIER_KEY_FILE": path, "CACHESTORE_TIER_KEY": Self.one])
        }
        _ = try TierKeys(environment: ["CACHESTORE_TIER_KEY_FILE": "", "CACHESTORE_TIER_KEY": Self.one])
    }
}
