import CacheStore
import FaultModel
import Foundation
import TestSupport
import Testing

@Suite("Claims of processes")
struct ClaimTests {
    private func open(_ laboratory: Laboratory) throws -> ResponseStore {
        try ResponseStore(directory: laboratory.store)
    }

    /// Starts a process that claims `key`, and returns with what it says that it got.
    private func start(
        _ laboratory: Laboratory, claiming key: String
    ) async throws -> (child: Child, answer: String) {
        var options = laboratory.options(.claim(key))
        options.journal = laboratory.storePath + "-answer-" + UUID().uuidString
        #expect(mkfifo(options.journal, 0o600) == 0)
        let child = try laboratory.start(options)
        let answer = await answer(options.journal)
        return (child, answer)
    }

    /// Reads a line on a thread of its own, which blocks until the process says something, or ends.
    private func answer(_ path: String) async -> String {
        await withCheckedContinuation { caller in
            Thread.detachNewThread {
                let handle = FileHandle(forReadingAtPath: path)
                let answer = handle?.availableData ?? Data()
                try? handle?.close()
                caller.resume(returning: String(decoding: answer, as: UTF8.self))
            }
        }
    }

    @Test("a key that another process loads is not claimed; killed with SIGKILL, it has let go of it at once")
    func killed() async throws {
        let laboratory = try Laboratory()
        let store = try open(laboratory)
        let key = try CacheKey(name: "a")
        for _ in 1...3 {
            let (child, answer) = try await start(laboratory, claiming: "a")
            #expect(answer == "claimed\n", "\(laboratory.output)")
            #expect(try store.claim(key) == nil)
            #expect(try store.claim(CacheKey(name: "b")) != nil)
            child.kill()
            #expect(await child.wait() == .signal(9))
            let claim = try #require(try store.claim(key))
            claim.release()
        }
    }

    @Test("a process does not get what this one has claimed, until it is released")
    func refused() async throws {
        let laboratory = try Laboratory()
        let store = try open(laboratory)
        let claim = try #require(try store.claim(CacheKey(name: "a")))
        let refused = try await start(laboratory, claiming: "a")
        #expect(refused.answer == "refused\n", "\(laboratory.output)")
        #expect(await refused.child.wait() == .exit(0))
        claim.release()
        let (child, answer) = try await start(laboratory, claiming: "a")
        #expect(answer == "claimed\n", "\(laboratory.output)")
        child.kill()
        #expect(await child.wait() == .signal(9))
    }

    @Test("a program that is started while a key is claimed does not keep the claim")
    func inherited() async throws {
        let laboratory = try Laboratory()
        let (store, other) = (try open(laboratory), try open(laboratory))
        let claim = try #require(try store.claim(CacheKey(name: "a")))
        // It lives on, whatever becomes of this process's claims.
        let (child, answer) = try await start(laboratory, claiming: "b")
        #expect(answer == "claimed\n", "\(laboratory.output)")
        #expect(try other.claim(CacheKey(name: "a")) == nil)
        // Not released by itself: with the store all claims end.
        store.close()
        #expect(try other.claim(CacheKey(name: "a")) != nil)
        child.kill()
        #expect(await child.wait() == .signal(9))
        claim.release()
    }

    @Test("of several processes that miss the same keys, one loads each; the others find it")
    func share() async throws {
        let laboratory = try Laboratory()
        let keys = (0..<60).map { "key \($0)" }
        let children = try (0..<4).map { _ in try laboratory.start(laboratory.options(.load(keys))) }
        for child in children { #expect(await child.wait() == .exit(0), "\(laboratory.output)") }
        #expect(laboratory.notes.sorted() == keys.sorted())
        let store = try open(laboratory)
        #expect(try store.statistics().entries == keys.count)
        #expect(try await store.check(digests: true).problems == [])
    }
}
