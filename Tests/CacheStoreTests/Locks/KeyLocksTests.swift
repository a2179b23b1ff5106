import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("Claims")
struct ClaimsTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private var file: URL { sandbox.url.appending(path: "claims") }

    private func exists() -> Bool { FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) }

    // MARK: Claiming

    @Test("one of several stores gets a key, until it releases it, or lets go of the claim")
    func exclusive() throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let key = try CacheKey.path("a")
        for isReleased in [true, false, true] {
            var claim = try store.claim(key)
            #expect(claim != nil)
            #expect(try store.claim(key) == nil)
            #expect(try other.claim(key) == nil)
            #expect(try other.claim(CacheKey(url: key.text, partition: "p")) != nil)
            #expect(try other.claim(.path("b")) != nil)
            if isReleased {
                claim?.release()
                // The second time it is no release of what others have claimed since.
                let next = try #require(try other.claim(key))
                claim?.release()
                #expect(try store.claim(key) == nil)
                next.release()
            }
            claim = nil
            #expect(try other.claim(key) != nil)
        }
    }

    @Test("2,000 keys are claimed at once with one descriptor, and each is released by itself")
    func manyKeys() throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let keys = try (0..<2_000).map { try CacheKey.path($0) }
        var claims = try keys.map { try store.claim($0) }
        #expect(claims.allSatisfy { $0 != nil })
        #expect(try keys.allSatisfy { try other.claim($0) == nil })
        #if os(Linux)
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
                == file.path(percentEncoded: false)
        }
        // One of each store.
        #expect(links.count == 2)
        #endif
        for number in stride(from: 0, to: 2_000, by: 2) { claims[number] = nil }
        for (number, key) in keys.enumerated() { #expect(try (other.claim(key) != nil) == number.isMultiple(of: 2)) }
    }

    @Test("keys that meet in one place wait for each other, and no more", arguments: [0, 2, 62] as [Int64])
    func collisions(_ bits: Int64) throws {
        _ = try sandbox.open()
        let root = try FileDescriptor.openDirectory(atPath: sandbox.path)
        let (here, there) = (
            Claims(root: root, onlyAsks: false, placeBits: bits), Claims(root: root, onlyAsks: false, placeBits: bits)
        )
        var waiting = try (0..<50).map { try CacheKey.path($0) }
        var rounds = 0
        while !waiting.isEmpty {
            // Everybody claims what they can get, by turns; those who got something let go of it.
            let outcomes = try waiting.enumerated().map { try ($0.isMultiple(of: 2) ? here : there).claim($1) }
            let left = zip(waiting, outcomes).filter { if case .claimed = $1 { false } else { true } }
            #expect(left.count < waiting.count)
            waiting = left.map(\.0)
            rounds += 1
        }
        #expect(bits == 0 ? rounds == 50 : bits == 62 ? rounds == 1 : (13...50).contains(rounds))
    }

    @Test("a store that is only read sees the claims of others, and keeps nobody else waiting")
    func readOnly() throws {
        let store = try sandbox.open()
        let reader = try sandbox.open { $0.isReadOnly = true }
        let mine = try #require(try reader.claim(.path("a")))
        #expect(!exists())
        #expect(try reader.claim(.path("a")) == nil)
        let claim = try #require(try store.claim(.path("a")))
        #expect(exists())
        mine.release()
        #expect(try reader.claim(.path("a")) == nil)
        claim.release()
        #expect(try reader.claim(.path("a")) != nil)
    }

    @Test(
        "a store that is closed, suspended or gone has let go of its claims; what was claimed before releases nothing")
    func ended() throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let before = try #require(try store.claim(.path("a")))
        store.suspend()
        #expect(throws: StoreError.suspended) { try store.claim(.path("a")) }
        try #require(try other.claim(.path("a"))).release()
        try store.resume()
        let after = try #require(try store.claim(.path("a")))
        before.release()
        #expect(try store.claim(.path("a")) == nil && other.claim(.path("a")) == nil)
        store.suspend()
        store.close()
        try store.resume()
        #expect(throws: StoreError.closed) { try store.claim(.path("a")) }
        #expect(try other.claim(.path("a")) != nil)
        after.release()
        var third: ResponseStore? = try sandbox.open()
        let orphan = try #require(try third?.claim(.path("b")))
        #expect(try other.claim(.path("b")) == nil)
        third = nil
        #expect(try other.claim(.path("b")) != nil)
        orphan.release()
    }

    // MARK: The file

    @Test(
        "the file is made with the first claim, for its owner only; it stays empty, and is no matter of check, sweep and export"
    )
    func directory() async throws {
        let store = try sandbox.open()
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(!exists())
        let claim = try #require(try store.claim(.path("a")))
        #expect(try sandbox.modes()["claims"] == 0o600)
        let (bytes, _) = try store.archive()
        let target = try Sandbox()
        try ResponseStore.importing(bytes, into: target.url)
        #expect(try target.modes()["claims"] == nil)
        try await store.sweep()
        try await store.clear()
        try await store.repair(digests: true)
        let report = try await store.check(digests: true)
        #expect(report.isSound && report.foreignFiles == [])
        #expect(try Data(contentsOf: file) == Data())
        #expect(try sandbox.open().claim(.path("a")) == nil)
        claim.release()
    }

    @Test("a file that somebody has deleted is made again: new claims meet there, old ones are kept here")
    func deleted() throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let old = try #require(try store.claim(.path("old")))
        #expect(try other.claim(.path("old")) == nil)
        try FileManager.default.removeItem(at: file)
        let new = try #require(try other.claim(.path("new")))
        #expect(try store.claim(.path("new")) == nil && store.claim(.path("old")) == nil)
        #expect(try other.claim(.path("old")) != nil)
        for claim in [old, new] { claim.release() }
        #expect(try store.claim(.path("old")) != nil && store.claim(.path("new")) != nil)
    }

    enum Obstacle: String, CaseIterable, CustomTestStringConvertible {
        case directory, fifo, link, loop

        var testDescription: String { rawValue }
    }

    @Test("where there is no such file everybody gets what they ask for, once in a store", arguments: Obstacle.allCases)
    func obstacles(_ obstacle: Obstacle) throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let reader = try sandbox.open { $0.isReadOnly = true }
        let (path, elsewhere) = (file.path(percentEncoded: false), sandbox.directory.path + "/elsewhere")
        switch obstacle {
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .link: #expect(symlink(elsewhere, path) == 0)
        case .loop: #expect(symlink(path, path) == 0)
        }
        for store in [store, other, reader] {
            let claim = try #require(try store.claim(.path("a")))
            #expect(try store.claim(.path("a")) == nil)
            claim.release()
            #expect(try store.claim(.path("a")) != nil)
        }
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
        try FileManager.default.removeItem(at: file)
        let claim = try #require(try store.claim(.path("a")))
        #expect(try other.claim(.path("a")) == nil && reader.claim(.path("a")) == nil)
        claim.release()
    }

    @Test("without descriptors, and without a directory, a claim is given")
    func tooManyOpenFiles() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            var taken: [Int32] = []
            while true {
                let descriptor = open("/dev/null", O_RDONLY)
                if descriptor == -1 { break }
                taken.append(descriptor)
            }
            let claim = try #require(try store.claim(.path("a")))
            #expect(try store.claim(.path("a")) == nil)
            for descriptor in taken { close(descriptor) }
            let other = try ResponseStore(directory: URL(filePath: path))
            #expect(try other.claim(.path("a")) != nil)
            let shared = try #require(try store.claim(.path("b")))
            #expect(try other.claim(.path("b")) == nil)
            try FileManager.default.removeItem(atPath: path)
            let last = try #require(try other.claim(.path("b")))
            for claim in [claim, shared, last] { claim.release() }
        }
    }

    // MARK: Waiting

    @Test("other processes are asked after 5 ms, then twice as long each time, up to 100 ms; after the limit it is nil")
    func pauses() async throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let claim = try #require(try other.claim(.path("a")))
        let clock = SteppingClock()
        let waited = try await store.waitForClaim(.path("a"), upTo: .milliseconds(400), clock: clock)
        #expect(waited == nil)
        #expect(clock.pauses == [5, 10, 20, 40, 80, 100, 100, 45].map { Duration.milliseconds($0) })
        #expect(try await store.waitForClaim(.path("a"), upTo: .zero, clock: clock) == nil)
        #expect(try await store.waitForClaim(.path("a"), upTo: .seconds(-1), clock: clock) == nil)
        #expect(clock.pauses.count == 8)
        claim.release()
        #expect(try await store.waitForClaim(.path("a"), upTo: .zero, clock: clock) != nil)
    }

    @Test("what another store releases during a pause is claimed after it")
    func released() async throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let claim = try #require(try other.claim(.path("a")))
        let clock = SteppingClock { number, _ in if number == 3 { claim.release() } }
        let waited = try await store.waitForClaim(.path("a"), upTo: .seconds(60), clock: clock)
        #expect(waited != nil && clock.pauses.count == 3)
        #expect(try other.claim(.path("a")) == nil)
    }

    @Test("who waits for a claim of the same store is woken at once, and gives up when the time is over")
    func woken() async throws {
        let store = try sandbox.open()
        let claim = try #require(try store.claim(.path("a")))
        // Sleeps that nobody ends but by cancelling.
        let asleep = Gate()
        let clock = SteppingClock { _, _ in await asleep.wait() }
        async let first = store.waitForClaim(.path("a"), upTo: .seconds(60), clock: clock)
        await asleep.reached(1)
        claim.release()
        let next = try await first
        #expect(next != nil && clock.pauses == [.seconds(60)])
        #expect(try await store.waitForClaim(.path("a"), upTo: .seconds(3), clock: SteppingClock()) == nil)
        next?.release()
    }

    @Test("a task that is cancelled while it waits gets nothing, and does not stay", arguments: [true, false])
    func cancelled(_ isHeldHere: Bool) async throws {
        let (store, other) = (try sandbox.open(), try sandbox.open())
        let claim = try #require(try (isHeldHere ? store : other).claim(.path("a")))
        let asleep = Gate()
        let clock = SteppingClock { _, _ in await asleep.wait() }
        let task = Task { try await store.waitForClaim(.path("a"), upTo: .seconds(60), clock: clock) }
        await asleep.reached(1)
        task.cancel()
        #expect(try await task.value == nil)
        claim.release()
        #expect(try store.claim(.path("a")) != nil)
    }

    @Test("who waits in a store that is suspended or closed is told", arguments: [StoreError.suspended, .closed])
    func endedWhileWaiting(_ error: StoreError) async throws {
        let store = try sandbox.open()
        let claim = try #require(try store.claim(.path("a")))
        let asleep = Gate()
        let clock = SteppingClock { _, _ in await asleep.wait() }
        let task = Task { try await store.waitForClaim(.path("a"), upTo: .seconds(60), clock: clock) }
        await asleep.reached(1)
        if error == .closed { store.close() } else { store.suspend() }
        await #expect(throws: error) { try await task.value }
        claim.release()
    }
}
