import CacheConfiguration
import CacheLoader
import CacheStoreTesting
import CacheTier
import Configuration
import Foundation
import HTTPCaching
import HTTPTypes
import Synchronization
import Testing

@Suite("SharedTier(reader:) and SharedTier.Configuration(reader:)")
struct TierKeysTests {
    private static let cases: [ConfigurationCase<SharedTier.Configuration>] =
        policyCases(\.policy, isShared: false) + [
            .init("name", "edge") { $0.name == "edge" },
            .init("partition", "tenant") { $0.partition == "tenant" },
            .init("sharesHeuristically", "true") { $0.sharesHeuristically },
            .init("deadline", "250ms") { $0.deadline == .milliseconds(250) },
            .init("bodyDeadline", "2s") { $0.bodyDeadline == .seconds(2) },
            .init("writeDeadline", "1m") { $0.writeDeadline == .seconds(60) },
            .init("removalDelay", "0s") { $0.removalDelay == .zero },
            .init("writers", "4") { $0.writers == 4 },
            .init("retention", "30d") { $0.retention == .seconds(30 * 86_400) },
            .init("maxBodyBytes", "1MB") { $0.maxBodyBytes == 1_000_000 },
            .init("maxPendingBytes", "1GiB") { $0.maxPendingBytes == 1 << 30 },
        ]
    private static let secret = String(repeating: "0123456789abcdef", count: 4)
    private static let url = "http://tier.example/feeds"

    @Test("Each key sets its property, from the environment and from a file", arguments: cases)
    func effect(_ each: ConfigurationCase<SharedTier.Configuration>) async throws {
        try await each.check("tier", default: SharedTier.Configuration()) { try await .init(reader: $0) }
    }

    @Test("Each key has a case, or a test below")
    func complete() {
        #expect(Set(Self.cases.map(\.key)) == Set(SharedTier.Configuration.keys.map(\.name)))
        #expect(
            Set(TierSettings.keys.map(\.name)).subtracting(Self.cases.map(\.key)) == ["url", "keyFile", "key"])
    }

    private func tier(
        _ values: [String: String], transport: ScriptedTransport = ScriptedTransport(),
        environment: [String: String] = [:]
    ) async throws -> SharedTier? {
        let values = Dictionary(uniqueKeysWithValues: values.map { ("tier.\($0.key)", $0.value) })
        return try await SharedTier(reader: .environment(values), transport: transport, environment: environment)
    }

    private func message(
        _ values: [String: String], environment: [String: String] = [:]
    ) async -> String {
        do {
            return "no error: \(String(describing: try await tier(values, environment: environment)))"
        } catch {
            return "\(error)"
        }
    }

    @Test("The URL names the engine; without one there is no tier")
    func engine() async throws {
        let transport = ScriptedTransport()
        let tier = try #require(try await tier(["url": Self.url, "key": Self.secret], transport: transport))
        _ = try? await tier.check()
        #expect(transport.requests.first?.authority == "tier.example")
        #expect(transport.requests.first?.path?.hasPrefix("/feeds/") == true)
        #expect(try await self.tier(["key": Self.secret]) == nil)
        #expect(try await self.tier(["url": "", "key": Self.secret]) == nil)
    }

    @Test("The tier has the values of its configuration, and the defaults of absent keys")
    func configuration() async throws {
        var defaults = SharedTier.Configuration()
        defaults.deadline = .seconds(7)
        let absent = try await SharedTier(
            reader: .environment(["tier.url": Self.url, "tier.key": Self.secret]), transport: ScriptedTransport(),
            defaults: defaults)
        #expect(absent?.deadline == .seconds(7))
        let tier = try await tier(["url": Self.url, "key": Self.secret, "deadline": "3s"])
        #expect(tier?.deadline == .seconds(3))
    }

    @Test("The keys come from a file, from a secret, or from the variables of cachestore")
    func keys() async throws {
        let directory = try TemporaryDirectory()
        // This file has no key for writing.
        let path = directory.url.appending(path: "keys").path(percentEncoded: false)
        try "names \(Self.secret)\nread hmac a \(Self.secret)\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try await tier(["url": Self.url, "keyFile": path])?.canWrite == false)
        #expect(try await tier(["url": Self.url, "key": Self.secret])?.canWrite == true)
        #expect(try await tier(["url": Self.url, "keyFile": path, "key": Self.secret])?.canWrite == false)
        let variables = ["CACHESTORE_TIER_KEY_FILE": path]
        #expect(try await tier(["url": Self.url], environment: variables)?.canWrite == false)
        #expect(try await tier(["url": Self.url, "key": Self.secret], environment: variables)?.canWrite == true)
        #expect(try await tier(["url": Self.url], environment: ["CACHESTORE_TIER_KEY": Self.secret])?.canWrite == true)
    }

    @Test("Unusable values of the engine and its keys name their keys, and no secret")
    func errors() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "keys").path(percentEncoded: false)
        try "write hmac a 0123\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(
            await message(["url": "ftp://user:password@tier.example", "key": Self.secret])
                == "tier.url: tier.example is not an http or https URL of an engine")
        #expect(
            await message(["url": "s3://bucket", "key": Self.secret], environment: ["AWS_REGION": "eu-north-1"])
                .hasPrefix("tier.url: s3://bucket names no host: write s3+https://s3.eu-north-1."))
        #expect(
            await message(["url": Self.url]) == "tier.keyFile needs the path of the file with the keys of the tier")
        #expect(
            await message(["url": Self.url, "keyFile": path])
                == "tier.keyFile: \(path), line 1: needs 64 hexadecimal digits or more")
        #expect(
            await message(["url": Self.url, "keyFile": "\(path).none"])
                == "tier.keyFile: the file of keys \(path).none cannot be read")
        #expect(
            await message(["url": Self.url, "key": "0123"])
                == "tier.key needs the secret of the tier: 64 hexadecimal digits or more")
    }

    @Test("A secret of another type is not printed")
    func secretType() async throws {
        let reader = try await ConfigReader.file([
            "tier.url": "\"\(Self.url)\"", "tier.key": "[\"\(Self.secret)\"]",
        ])
        await #expect {
            _ = try await SharedTier(reader: reader, transport: ScriptedTransport(), environment: [:])
        } throws: { error in
            "\(error)" == "tier.key needs the secret of the tier: 64 hexadecimal digits or more"
        }
    }

    @Test("The secret is a secret for access reporters, and no other value is")
    func access() async throws {
        final class Reporter: AccessReporter {
            let secrets = Mutex<[String: Bool]>([:])

            func report(_ event: AccessEvent) {
                guard case .success(let value?) = event.result else { return }
                secrets.withLock { $0["\(event.metadata.key)"] = value.isSecret }
            }
        }
        let reporter = Reporter()
        let provider = EnvironmentVariablesProvider(environment: ["tier.url": Self.url, "tier.key": Self.secret])
        _ = try await SharedTier(
            reader: ConfigReader(provider: provider, accessReporter: reporter), transport: ScriptedTransport())
        #expect(reporter.secrets.withLock { $0 } == ["tier.url": false, "tier.key": true])
    }
}
