import Logging
import TestSupport

@Suite("ResponseStore.Configuration")
struct ConfigurationTests {
    private func isSilent(_ logger: Logger) -> Bool {
        var text = ""
        dump(logger, to: &text)
        return text.contains("SwiftLogNoOpLogHandler")
    }

    @Test("each default equals the documented one", .requirement("K1"))
    func defaults() {
        var defaults = DocumentedDefaults(of: ResponseStore.Configuration())
        defaults.check("limits") { $0.limits == .standard }
        defaults.check("limitCheckInterval") { $0.limitCheckInterval == nil }
        defaults.check("evictionPolicy") { $0.evictionPolicy == nil }
        defaults.check("recordsRequests") { $0.recordsRequests == nil }
        defaults.check("verification") { $0.verification == .firstRead }
        defaults.check("durability") { $0.durability == .relaxed }
        defaults.check("secureDelete") { !$0.secureDelete }
        defaults.check("isReadOnly") { !$0.isReadOnly }
        defaults.check("acceptsForeignDirectory") { !$0.acceptsForeignDirectory }
        defaults.check("readerCount") { $0.readerCount == 4 }
        defaults.check("hotKeyCount") { $0.hotKeyCount == 512 }
        defaults.check("openBodyCount") { $0.openBodyCount == 64 }
        defaults.check("cacheByteCount") { $0.cacheByteCount == 8 << 20 }
        defaults.check("busyTimeout") { $0.busyTimeout == .seconds(5) }
        defaults.check("queryTimeout") { $0.queryTimeout == .seconds(5) }
        defaults.check("accessInterval") { $0.accessInterval == .seconds(10) }
        defaults.check("clock") { abs($0.clock().timeIntervalSinceNow) < 60 }
        defaults.check("logger") { isSilent($0.logger) }
        defaults.check("logsEviction") { !$0.logsEviction }
        defaults.check("metrics") { $0.metrics == nil }
        #expect(defaults.differences == [])
    }

    @Test("the small configuration has one reader, 512 KiB of pages and 32 MiB on disk", .requirement("K1"))
    func small() {
        let small = ResponseStore.Configuration.small
        #expect(small.limits == Limits(maxBytes: 32 << 20))
        #expect(small.readerCount == 1)
        #expect(small.cacheByteCount == 512 << 10)
    }

    @Test("limits are absent by default; the standard ones are 512 MiB, an eighth for one body", .requirement("K1"))
    func limits() {
        var none = DocumentedDefaults(of: Limits())
        none.check("maxBytes") { $0.maxBytes == nil }
        none.check("maxEntries") { $0.maxEntries == nil }
        none.check("maxEntryBytes") { $0.maxEntryBytes == nil }
        none.check("maxPartitionBytes") { $0.maxPartitionBytes == nil }
        none.check("maxIdleTime") { $0.maxIdleTime == nil }
        none.check("maxAge") { $0.maxAge == nil }
        none.check("minFreeBytes") { $0.minFreeBytes == nil }
        none.check("lowWaterMark") { $0.lowWaterMark == 0.9 }
        #expect(none.differences == [])
        #expect(Limits.standard == Limits(maxBytes: 512 << 20, maxEntryBytes: 64 << 20, lowWaterMark: 0.9))
    }

    @Test("omitted options keep those of the entry", .requirement("K1"))
    func options() {
        var options = DocumentedDefaults(of: EntryOptions())
        options.check("lifetime") { $0.lifetime == nil }
        options.check("isPinned") { $0.isPinned == nil }
        options.check("tags") { $0.tags == nil }
        #expect(options.differences == [])
    }

    @Test("changing a configuration does not affect an open store", .requirement("K1"))
    func copied() throws {
        let sandbox = Sandbox()
        var configuration = sandbox.configuration()
        let store = try ResponseStore(directory: sandbox.url, configuration: configuration)
        configuration.verification = .never
        configuration.clock = { .distantPast }
        #expect(store.configuration.verification == .firstRead)
        #expect(try store.insert(Data(), metadata: sandbox.metadata(), for: .path("a")).createdAt == sandbox.clock.now)
    }

    @Test(
        "extreme values work",
        arguments: [
            (Int.min, Duration.seconds(Int64.min), Duration.seconds(Int64.min)),
            (0, .zero, .zero),
            (-1, .seconds(-1), .seconds(-1)),
            (64, .seconds(Int64.max), .seconds(Int64.max)),
            (1, .nanoseconds(1), .nanoseconds(1)),
        ])
    func extremes(_ readers: Int, _ timeout: Duration, _ interval: Duration) throws {
        let sandbox = Sandbox()
        let store = try sandbox.open {
            $0.readerCount = readers
            $0.busyTimeout = timeout
            $0.accessInterval = interval
        }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        _ = try store.lookup(.path("a"))
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
    }
}
