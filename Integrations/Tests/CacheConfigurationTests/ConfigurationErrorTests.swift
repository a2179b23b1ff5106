import CacheConfiguration
import CacheLoader
import CacheStore
import CacheTier
import Configuration
import Testing

@Suite("ConfigurationError")
struct ConfigurationErrorTests {
    /// Reads the keys of all parts except the engine of a tier.
    private func read(_ reader: ConfigReader) async throws(ConfigurationError) {
        _ = try await ResponseStore.Configuration(reader: reader)
        _ = try await HTTPCache.Configuration(reader: reader)
        _ = try await ResourceLoader.Configuration(reader: reader)
        _ = try await SharedTier.Configuration(reader: reader)
    }

    private static let bytes = "a number of bytes such as 1048576, 512MB or 1.5GiB"
    private static let duration = "a duration such as 250ms, 1.5s, 15m, 12h or 30d"

    @Test(
        "A value that is not accepted throws, with the key and the accepted values",
        arguments: [
            ("store.maxBytes", "many", "\(bytes), or unlimited"), ("store.maxBytes", "-1", "\(bytes), or unlimited"),
            ("store.maxBytes", "", "\(bytes), or unlimited"), ("store.maxBytes", "9999PB", "\(bytes), or unlimited"),
            ("store.cacheByteCount", "unlimited", bytes),
            ("store.maxEntries", "-1", "a whole number from 0, or unlimited"),
            ("store.maxEntries", "1.5", "a whole number from 0, or unlimited"),
            ("store.lowWaterMark", "1.01", "a number from 0 to 1"),
            ("store.lowWaterMark", "nan", "a number from 0 to 1"),
            ("store.durability", "Durable", "relaxed or durable"),
            ("store.verification", "always", "firstRead, everyRead or never"),
            ("store.readerCount", "0", "a whole number from 1"),
            ("store.busyTimeout", "5", duration), ("store.busyTimeout", "-5s", duration),
            ("store.busyTimeout", "1.s", duration), ("store.busyTimeout", ".5s", duration),
            ("store.busyTimeout", "1.2.3s", duration), ("store.busyTimeout", "5 s", duration),
            ("store.busyTimeout", "106751991168d", duration), ("store.busyTimeout", "٣s", duration),
            ("store.queryTimeout", "never", "\(duration), or unlimited"),
            ("cache.policy.mode", "HTTP", "http, cacheFirst, revalidateAlways, remoteOnly or cacheOnly"),
            (
                "cache.policy.lifetimeOverride", "fixed",
                "serverPolicy, doNotStore, immutable, or a duration after fixed or forced, such as fixed 1h"
            ),
            (
                "cache.policy.targetedFields", "CDN-Cache-Control,Expires",
                "a list of field names such as CDN-Cache-Control, without Cache-Control and Expires"
            ),
            ("cache.cacheStatus.name", "", "a text that is not empty"),
            (
                "cache.logOptions", "errors,none",
                "a list of requests, responses, errors, misses, eviction, pressure, all"
            ),
            ("loader.contentTypes", "image/*,*/png", "a list of media ranges such as image/*, which is not empty"),
            ("loader.contentTypes", "", "a list of media ranges such as image/*, which is not empty"),
            ("loader.timeout", "0s", "\(duration), longer than 0s, or unlimited"),
            ("tier.deadline", "0s", "\(duration), longer than 0s and at most 1h"),
            ("tier.deadline", "61m", "\(duration), longer than 0s and at most 1h"),
            ("tier.writers", "0", "a whole number from 1"),
        ])
    func invalid(key: String, text: String, accepted: String) async {
        let error = await #expect(throws: ConfigurationError.self) { try await read(.environment([key: text])) }
        guard case .invalidValue(key, accepted)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(error.map { "\($0)" } == "\(key) needs \(accepted)")
    }

    @Test(
        "A value of another type throws, with the key, the accepted values and the provider's error",
        arguments: [
            ("store.readerCount", "\"four\""), ("store.readerCount", "4.5"), ("store.isReadOnly", "\"no\""),
            ("store.maxBytes", "[1]"), ("store.busyTimeout", "5"), ("store.lowWaterMark", "\"0.5\""),
            ("store.durability", "true"), ("cache.policy.targetedFields", "\"CDN-Cache-Control\""),
        ])
    func otherType(key: String, json: String) async throws {
        let reader = try await ConfigReader.file([key: json])
        let error = await #expect(throws: ConfigurationError.self) { try await read(reader) }
        guard case .unreadable(key, let accepted, let cause)? = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(error.map { "\($0)" } == "\(key) needs \(accepted): \(cause)")
    }

    @Test("A wrong value of the first provider throws, although the second has the key")
    func precedence() async throws {
        let file = try await FileProvider<JSONSnapshot>.file(["store.readerCount": "5", "store.maxEntries": "6"])
        func reader(_ count: String) -> ConfigReader {
            ConfigReader(providers: [EnvironmentVariablesProvider(environment: ["store.readerCount": count]), file])
        }
        let configuration = try await ResponseStore.Configuration(reader: reader("7"))
        #expect(configuration.readerCount == 7)
        #expect(configuration.limits?.maxEntries == 6)
        await #expect(throws: ConfigurationError.self) {
            _ = try await ResponseStore.Configuration(reader: reader("many"))
        }
    }

    @Test("A scope of the reader is before each key")
    func scope() async throws {
        let reader = ConfigReader.environment(["images.store.readerCount": "8", "store.readerCount": "9"])
        #expect(try await ResponseStore.Configuration(reader: reader.scoped(to: "images")).readerCount == 8)
    }
}
