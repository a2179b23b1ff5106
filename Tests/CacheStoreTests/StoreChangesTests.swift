import CacheStore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("StoreChanges")
struct StoreChangesTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("observers hear of a removal of many before the first entry goes, and after the last")
    func twice() throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let counts = Mutex<[Int]>([])
        let observing = store.changeObservers.add { [unowned store] _ in
            let count = (try? store.statistics().entries) ?? -1
            counts.withLock { $0.append(count) }
        }
        try store.removeAll(.everything)
        #expect(counts.withLock { $0 } == [1, 0])
        withExtendedLifetime(observing) {}
    }

    @Test("an observer of a replaced index may use the store", .timeLimit(.minutes(1)))
    func replacedIndex() async throws {
        let store = try sandbox.open()
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let observing = store.changeObservers.add { [unowned store, sandbox] change in
            guard case .removedMany = change else { return }
            _ = try? store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        }
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: sandbox.indexPath + suffix)
        }
        try await store.insert(Data("c".utf8), metadata: sandbox.metadata(), for: .path("c"))
        try await store.flush()
        #expect(try ["a", "b", "c"].map { try store.contains(.path($0)) } == [false, true, true])
        withExtendedLifetime(observing) {}
    }

    @Test("each change of the entries is reported after its transaction, until the observation ends")
    func reported() async throws {
        let store = try sandbox.open()
        let log = Mutex<[String]>([])
        var observing: ObserverRegistration? = store.changeObservers.add { change in
            let text =
                switch change {
                case .stored(let key, _): "stored \(key.text.suffix(1))"
                case .removed(let key): "removed \(key.text.suffix(1))"
                case .removedMany(let partition): "removed from \(partition ?? "all")"
                }
            log.withLock { $0.append(text) }
        }
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try await store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        try await store.freshen(entry, with: sandbox.metadata())
        try await store.remove(entry)
        try await store.remove(.path("b"))
        try await store.removeAll(partition: "user")
        try await store.clear()
        try store.evict(maxBytes: 0)
        observing = nil
        try await store.remove(.path("b"))
        #expect(observing == nil)
        #expect(
            log.withLock { $0 } == [
                "stored a", "stored b", "stored a", "removed a", "removed b", "removed from user", "removed from user",
                "removed from all", "removed from all",
            ])
    }

    @Test("the shared object of a type is made once for each store")
    func shared() throws {
        final class Object: Sendable {}
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let object = store.shared { Object() }
        #expect(store.shared { Object() } === object)
        #expect(other.shared { Object() } !== object)
    }
}
