import CacheTier
import Crypto
import TestSupport

@Suite("Trust in the objects of a tier") struct TrustTests {
    typealias Objects = [String: ObjectServer.Object]

    struct Attack: Sendable, CustomTestStringConvertible {
        let name: String
        var byteCount = 100
        let change: @Sendable (inout Objects) -> Void
        let count: @Sendable (TierStatistics.Refusals) -> Int
        var testDescription: String { name }
    }

    private static func changing(
        _ folder: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> @Sendable (inout Objects) -> Void {
        { objects in
            for name in objects.keys where name.contains("/v2/\(folder)/") {
                change(&objects[name, default: .init(bytes: [], lastModified: 0)].bytes)
            }
        }
    }

    @Test(
        "an attack on an object is a miss, and is counted", .requirement("T4"),
        arguments: [
            Attack(
                name: "a flipped bit in the body", change: changing("resp") { $0[$0.count - 1] ^= 1 },
                count: { $0.forged }),
            Attack(name: "a flipped bit in the head", change: changing("resp") { $0[100] ^= 4 }, count: { $0.forged }),
            Attack(name: "a flipped bit in the proof", change: changing("resp") { $0[8] ^= 128 }, count: { $0.forged }),
            Attack(name: "another name of the key", change: changing("resp") { $0[4] ^= 1 }, count: { $0.unknownKey }),
            Attack(name: "another format", change: changing("resp") { $0[0] ^= 1 }, count: { $0.malformed }),
            Attack(name: "truncated by a byte", change: changing("resp") { $0.removeLast() }, count: { $0.forged }),
            Attack(
                name: "truncated in the proof", change: changing("resp") { $0 = Array($0.prefix(20)) },
                count: { $0.malformed }),
            Attack(name: "empty", change: changing("resp") { $0 = [] }, count: { $0.malformed }),
            Attack(
                name: "longer than any record",
                change: changing("resp") { $0 += [UInt8](repeating: 0, count: 2 << 20) },
                count: { $0.malformed }),
            Attack(
                name: "written once more later",
                change: { objects in
                    for name in objects.keys { objects[name]?.lastModified += 3600 }
                }, count: { $0.replayed }),
            Attack(
                name: "a flipped bit in a body of its own", byteCount: 100_000,
                change: changing("cas") { $0[10] ^= 1 }, count: { $0.damagedBodies }),
        ])
    func attacks(_ attack: Attack) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(attack.byteCount, seed: 2)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=86400") }
        try await Machine(server).get(origin.url("/a"))
        var objects = server.objects
        attack.change(&objects)
        server.objects = objects
        server.time += 3600
        let machine = try Machine(server)
        let response = try await machine.get(origin.url("/a"))
        #expect(response.body == body)
        #expect(origin.requestCount == 2)
        #expect(attack.count(machine.tier.statistics.refused) == 1)
        #expect(machine.tier.statistics.hits == 0)
        // The miss wrote a sound record.
        #expect(try await Machine(server).get(origin.url("/a")).body == body)
        #expect(origin.requestCount == 2)
    }

    @Test("a flipped bit anywhere in a record never yields wrong bytes", .requirement("T4"))
    func anyBit() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("abc".utf8, cacheControl: "max-age=86400") }
        try await Machine(server).get(origin.url("/a"))
        let name = try #require(server.names("resp").first)
        let sound = try #require(server.objects[name])
        // A machine with read-only keys leaves the record.
        let keys = try TierKeys(
            names: Data(repeating: 1, count: 32), writing: nil,
            reading: [.hmac(id: "1", secret: Data(repeating: 2, count: 32))])
        var generator = SeededGenerator()
        for _ in 0..<40 {
            var damaged = sound
            let bit = Int.random(in: 0..<sound.bytes.count * 8, using: &generator)
            damaged.bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            server.objects[name] = damaged
            let machine = try Machine(server, keys: keys)
            #expect(try await machine.get(origin.url("/a")).body == Data("abc".utf8))
            let (statistics, refused) = (machine.tier.statistics, machine.tier.statistics.refused)
            #expect(statistics.hits == 0, "\(generator)")
            #expect(refused.malformed + refused.unknownKey + refused.forged == 1, "\(generator)")
        }
    }

    @Test("a record under the name of another URL is a forgery", .requirement("T4"))
    func swapped() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let writer = try Machine(server)
        try await writer.get(origin.url("/a"))
        let first = try #require(server.names("resp").first)
        try await writer.get(origin.url("/b"))
        let second = try #require(server.names("resp").first { $0 != first })
        server.objects[second] = server.objects[first]
        let machine = try Machine(server)
        #expect(try await machine.get(origin.url("/b")).body == Data("/b".utf8))
        #expect(machine.tier.statistics.refused.forged == 1)
    }

    @Test("another tenant's records are not found; under the tenant's own name they are refused", .requirement("T4"))
    func tenants() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        try await Machine(server) { $0.partition = "a" }.get(origin.url("/"))
        let foreign = try #require(server.names("resp").first)
        let other = try Machine(server) { $0.partition = "b" }
        #expect(try await other.get(origin.url("/")).body == Data("2".utf8))
        let own = try #require(server.names("resp").first { $0 != foreign })
        server.objects[own] = server.objects[foreign]
        let again = try Machine(server) { $0.partition = "b" }
        #expect(try await again.get(origin.url("/")).body == Data("3".utf8))
        #expect(again.tier.statistics.refused.forged == 1)
        // The same names, with another secret for the same key name.
        let stranger = try Machine(server, keys: Machine.keys(secret: 9)) { $0.partition = "a" }
        #expect(try await stranger.get(origin.url("/")).body == Data("4".utf8))
        // The object of the URL.
        #expect(stranger.tier.statistics.refused.forged == 1)
    }

    /// Returns an object with other numbers in its record, sealed with the fleet's secret, as by a faulty writer.
    private static func resealed(
        _ object: [UInt8], _ name: String, _ change: (inout [String: Any]) -> Void
    ) throws -> [UInt8] {
        let idCount = Int(object[3])
        let start = 5 + idCount + Int(object[4 + idCount])
        let jsonCount = object[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        let body = object.dropFirst(start + 4 + jsonCount)
        let json = Data(object.dropFirst(start + 4).prefix(jsonCount))
        var head = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        change(&head)
        let changed = try JSONSerialization.data(withJSONObject: head)
        let count = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: changed.count >> $0) }
        let payload = Data(count) + changed + body
        let message = Data("cachetier record 1\n\(name.utf8.count)\n\(name)".utf8) + payload
        let secret = SymmetricKey(data: Data(repeating: 2, count: 32))
        let proof = HMAC<SHA256>.authenticationCode(for: message, using: secret)
        return Array(object.prefix(5 + idCount)) + Array(proof) + Array(payload)
    }

    @Test(
        "a record with impossible numbers is a miss, even if a writer of the fleet sealed it", .requirement("T4"),
        arguments: ["heldSeconds", "byteCount", "part"], [Int64.min, -1, .max])
    func impossibleFigures(_ figure: String, _ value: Int64) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("abc".utf8, cacheControl: "max-age=60") }
        try await Machine(server).get(origin.url("/a"))
        let path = try #require(server.names("resp").first)
        let name = String(try #require(path.firstRange(of: "v2/").map { path[$0.lowerBound...] }))
        let object = try #require(server.objects[path])
        server.objects[path]?.bytes = try Self.resealed(object.bytes, name) { head in
            if figure == "part" {
                var response = head["response"] as? [String: Any] ?? [:]
                response["part"] = ["start": 0, "end": 1_000_000, "completeLength": value]
                head["response"] = response
            } else {
                head[figure] = value
            }
        }
        let keys = try TierKeys(
            names: Data(repeating: 1, count: 32), writing: nil,
            reading: [.hmac(id: "1", secret: Data(repeating: 2, count: 32))])
        let machine = try Machine(server, keys: keys)
        let requests: [(HTTPRequest.Method, HTTPFields)] = [
            (.get, [.range: "bytes=0-999"]), (.get, [:]), (.put, [:]), (.get, [:]),
        ]
        for (method, fields) in requests {
            #expect(try await machine.get(origin.url("/a"), fields, method: method).status < 300)
        }
        #expect(machine.tier.statistics.hits == 0)
    }

    @Test("after a rotation, records of the old key count while the key is listed for reading", .requirement("T4"))
    func rotation() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        try await Machine(server, keys: Machine.keys("old")).get(origin.url("/"))
        let names = Data(repeating: 1, count: 32)
        let old = try TierKey.hmac(id: "old", secret: Data(repeating: 2, count: 32))
        let new = try TierKey.hmac(id: "new", secret: Data(repeating: 3, count: 32))
        try await Machine(server, keys: TierKeys(names: names, writing: new, reading: [old])).get(origin.url("/"))
        #expect(origin.requestCount == 1)
        let without = try Machine(server, keys: TierKeys(names: names, writing: new))
        try await without.get(origin.url("/"))
        #expect(origin.requestCount == 2)
        // The object of the URL, which is replaced. The next response is written.
        #expect(without.tier.statistics.refused.unknownKey == 1)
        server.time += 2
        for _ in 0..<2 { try await Machine(server, keys: TierKeys(names: names, writing: new)).get(origin.url("/")) }
        #expect(origin.requestCount == 3)
    }

    @Test("machines share a tier with one secret; machines with another secret find nothing", .requirement("T4"))
    func oneSecret() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        for (secret, requestCount) in [(1, 1), (1, 1), (2, 2)] as [(UInt8, Int)] {
            let keys = try TierKeys(secret: Data(repeating: secret, count: 32))
            try await Machine(server, keys: keys).get(origin.url("/"))
            #expect(origin.requestCount == requestCount)
        }
        #expect(server.names("resp").count == 2)
    }

    @Test("with Ed25519, a machine with the public key reads and cannot write", .requirement("T4"))
    func readers() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let pair = Curve25519.Signing.PrivateKey()
        let names = Data(repeating: 1, count: 32)
        let writer = try TierKey.ed25519(id: "w", privateKey: pair.rawRepresentation)
        let reader = try TierKey.ed25519(id: "w", publicKey: pair.publicKey.rawRepresentation)
        let reading = try Machine(server, keys: TierKeys(names: names, writing: reader))
        try await reading.get(origin.url("/"))
        #expect(server.objects.isEmpty)
        #expect(!reading.tier.canWrite)
        await #expect(throws: TierError.readOnly) { try await reading.tier.removeAll(in: .partition) }
        #expect(try await !reading.tier.check().canWrite)
        try await Machine(server, keys: TierKeys(names: names, writing: writer)).get(origin.url("/"))
        #expect(origin.requestCount == 2)
        try await Machine(server, keys: TierKeys(names: names, writing: nil, reading: [reader])).get(origin.url("/"))
        #expect(origin.requestCount == 2)
    }

    @Test("refuses keys of a wrong length")
    func lengths() {
        #expect(throws: TierError.invalidKey(id: "k")) { try TierKey.hmac(id: "k", secret: Data(count: 31)) }
        #expect(throws: TierError.invalidKey(id: "")) { try TierKey.hmac(id: "", secret: Data(count: 32)) }
        #expect(throws: TierError.invalidKey(id: "k")) { try TierKey.ed25519(id: "k", publicKey: Data(count: 3)) }
        #expect(throws: TierError.invalidKey(id: "k")) { try TierKey.ed25519(id: "k", privateKey: Data(count: 3)) }
        #expect(throws: TierError.invalidKey(id: "secret")) { try TierKeys(secret: Data(count: 31)) }
        #expect(throws: TierError.invalidKey(id: "names")) { try TierKeys(names: Data(count: 8), writing: nil) }
    }
}
