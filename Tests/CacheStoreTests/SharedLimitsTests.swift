import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Limits of several stores in one directory")
struct SharedLimitsTests {
    let sandbox = Sandbox()

    @Test("two stores that write in turns keep the directory below the limit")
    func twoStores() async throws {
        let limits = Limits(maxBytes: 150_000, maxEntries: 60, lowWaterMark: 0.8)
        let stores = try (0..<2).map { _ in try sandbox.open { $0.limits = limits } }
        for number in 0..<200 {
            try LimitsTests.fill(sandbox, stores[number % 2], ["\(10_000 + number)"], 2_000)
            let size = try sandbox.size()
            #expect(size.bytes <= 150_000)
            #expect(size.entries <= 60)
        }
        for store in stores { try await store.flush() }
        let left = try sandbox.names()
        #expect(left == LimitsTests.numbers(0..<200).suffix(left.count))
        #expect(left.count > 20)
        for store in stores { #expect(try await store.check(digests: true).isSound) }
    }

    @Test("while another process evicts, a store keeps the limit, and leaves the low-water mark to that process")
    func locked() async throws {
        let store = try sandbox.open { $0.limits = Limits(maxEntries: 20, lowWaterMark: 0.5) }
        let directory = open(sandbox.path + "/blobs", O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        try #require(flock(directory, LOCK_EX | LOCK_NB) == 0)
        try LimitsTests.fill(sandbox, store, LimitsTests.numbers(0..<40))
        try await store.flush()
        #expect(try sandbox.names() == LimitsTests.numbers(20..<40))
        try #require(flock(directory, LOCK_UN) == 0)
        try LimitsTests.fill(sandbox, store, LimitsTests.numbers(40..<41))
        try await store.flush()
        #expect(try sandbox.names() == LimitsTests.numbers(31..<41))
    }

    @Test("two processes that fill one store keep it below the limit", .requirement("J5"))
    func twoProcesses() async throws {
        try sandbox.open().close()
        async let first: Void = fillInProcess(0)
        async let second: Void = fillInProcess(1)
        _ = await (first, second)
        let size = try sandbox.size()
        #expect(size.bytes <= 200_000)
        #expect((11...80).contains(size.entries))
        let store = try sandbox.open()
        #expect(try await store.check(digests: true).isSound)
    }

    private func fillInProcess(_ number: Int) async {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String, number = number as Int] in
            var configuration = ResponseStore.Configuration()
            configuration.limits = Limits(maxBytes: 200_000, maxEntries: 80)
            let store = try ResponseStore(directory: URL(filePath: path), configuration: configuration)
            let inspector = try Connection(path: path + "/index.sqlite", role: .inspector, busyTimeout: .seconds(10))
            for round in 0..<200 {
                let seed = UInt64(number * 1_000 + round)
                try await store.insert(Data.noise(3_000, seed: seed), metadata: .now, for: .path(seed))
                try inspector.execute("BEGIN")
                let size = try inspector.size()
                try inspector.execute("COMMIT")
                #expect(size.bytes <= 200_000)
                #expect(size.entries <= 80)
            }
            try await store.flush()
        }
    }
}
