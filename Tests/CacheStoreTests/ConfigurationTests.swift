import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("ResponseStore.Configuration")
struct ConfigurationTests {
    let configuration = ResponseStore.Configuration()

    @Test("K1: bodies are verified before their first read")
    func verification() { #expect(configuration.verification == .firstRead) }

    @Test("K1: four lookups run at once")
    func readerCount() { #expect(configuration.readerCount == 4) }

    @Test("K1: a store waits for 5 seconds for the lock of another process")
    func busyTimeout() { #expect(configuration.busyTimeout == .seconds(5)) }

    @Test("K1: accesses stay in memory for 10 seconds at most")
    func accessInterval() { #expect(configuration.accessInterval == .seconds(10)) }

    @Test("K1: the clock is the system's")
    func clock() { #expect(abs(configuration.clock().timeIntervalSinceNow) < 60) }

    @Test("K1: the logger is silent")
    func logger() {
        var text = ""
        dump(configuration.logger, to: &text)
        #expect(text.contains("SwiftLogNoOpLogHandler"))
    }

    @Test("K1: a change after the store was opened changes nothing")
    func copied() throws {
        let sandbox = try Sandbox()
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
        let sandbox = try Sandbox()
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
