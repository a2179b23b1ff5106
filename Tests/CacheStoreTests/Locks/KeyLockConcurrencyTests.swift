import Dispatch
import TestSupport

@Suite("Key locks with many threads and tasks")
struct KeyLockConcurrencyTests {
    /// The locked keys: each at most once at any time.
    private final class Register: Sendable {
        private struct State {
            var held: Set<Int> = []
            /// The number of locks of each key.
            var counts: [Int: Int] = [:]
        }

        /// Guards the holders.
        private let state = Mutex(State())

        func enter(_ key: Int) {
            let isAlone = state.withLock { state in
                state.counts[key, default: 0] += 1
                return state.held.insert(key).inserted
            }
            #expect(isAlone, "key \(key) is held twice")
        }

        func leave(_ key: Int) { state.withLock { _ = $0.held.remove(key) } }

        var counts: [Int: Int] { state.withLock { $0.counts } }
    }

    @Test("8 threads lock and release at random: no key is locked twice, and no lock is lost", arguments: [1, 3])
    func threads(stores count: Int) throws {
        let sandbox = Sandbox()
        let stores = try (0..<count).map { _ in try sandbox.open() }
        let (register, seed) = (Register(), SeededGenerator())
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var generator = SeededGenerator(seed: seed.seed &+ UInt64(thread))
            #expect(throws: Never.self, "\(seed)") {
                for _ in 0..<Repetitions.count(2_000, debug: 500) {
                    let key = Int.random(in: 0..<6, using: &generator)
                    guard let lock = try stores[thread % count].tryLock(.path(key)) else { continue }
                    register.enter(key)
                    register.leave(key)
                    if Bool.random(using: &generator) { lock.release() }
                }
            }
        }
        #expect(register.counts.count == 6)
        for key in 0..<6 { #expect(try stores[0].tryLock(.path(key)) != nil) }
    }

    @Test("suspending a store while tasks lock and wait releases all locks; resuming it allows them again")
    func suspended() async throws {
        let sandbox = Sandbox()
        let (store, other) = (try sandbox.open(), try sandbox.open())
        try await withThrowingTaskGroup { group in
            for task in 0..<20 {
                group.addTask {
                    for _ in 0..<50 {
                        do {
                            let lock = try await store.lock(.path(task % 3), within: .seconds(10)) { _ in }.lock
                            await Task.yield()
                            lock?.release()
                        } catch StoreError.suspended {
                            // The store was suspended before the call.
                        }
                    }
                }
            }
            for _ in 0..<10 {
                await Task.yield()
                store.suspend()
                for key in 0..<3 { #expect(try other.tryLock(.path(key)) != nil) }
                try store.resume()
            }
            try await group.waitForAll()
        }
        for key in 0..<3 { #expect(try store.tryLock(.path(key)) != nil) }
    }
}
