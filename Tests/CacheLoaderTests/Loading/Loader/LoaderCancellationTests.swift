import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("ResourceLoader: cancelling at any moment", .timeLimit(.minutes(5)))
struct LoaderCancellationTests {
    @Test("E4: a handle that is cancelled at once, before its load waits for a flight, ends it all the same")
    func atOnce() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let (ends, continuation) = AsyncStream<String>.makeStream()
        for number in 0..<100 {
            let handle = fixture.loader.start(ResourceRequest("https://example.com/\(number)")) { event in
                if event.isLast { continuation.yield(event.name) }
            }
            handle.cancel()
        }
        var iterator = ends.makeAsyncIterator()
        for _ in 0..<100 { #expect(await iterator.next() == "cancelled") }
    }

    @Test("E4: who looks into the store when all is cancelled does not begin a transfer afterwards")
    func cancelAllWhileLookingUp() async throws {
        let origin = HeldOrigin()
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        let fixture = try LoaderFixture(transport: origin.transport) { configuration in
            // A lookup asks for the time.
            let clock = configuration.clock
            configuration.clock = {
                cancel.withLock { cancel in
                    defer { cancel = nil }
                    return cancel
                }?()
                return clock()
            }
        }
        let loader = fixture.loader
        cancel.withLock { $0 = { loader.cancelAll() } }
        await #expect(throws: LoadError.cancelled) { try await loader.load("https://example.com/a") }
        #expect(origin.begun.isEmpty)
        origin.open("/a")
        #expect(try await loader.load("https://example.com/a").text == "/a", "later loads are as ever")
    }

    @Test("E4: a caller that was cancelled while its value was made of stored bytes is told so")
    func whileProcessing() async throws {
        let gate = Gate()
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let url = "https://example.com/a"
        try await fixture.loader.insert(Data("stored".utf8), for: url)
        let processor = ClosureProcessor<Data, String>(ProcessorID("held")) { _, _ in
            await gate.wait()
            try Task.checkCancellation()
            return "made"
        }
        let task = Task { try await fixture.loader.load(url, as: processor).value }
        await gate.reached(1)
        task.cancel()
        gate.open()
        await #expect(throws: LoadError.cancelled) { try await task.value }
    }

    @Test("K3: an attempt that takes too long ends, though its transport does not heed that")
    func timeoutOfADeafTransport() async throws {
        let deaf = Gate()
        let transport = ScriptedTransport { _, _ in
            await withCheckedContinuation { continuation in
                Task.detached {
                    await deaf.wait()
                    continuation.resume()
                }
            }
            return .reply(200, [:], "late")
        }
        let sleeping = Gate()
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.sleep = { _ in await sleeping.wait() }
        }
        let request = ResourceRequest("https://example.com/a", timeout: .seconds(3))
        let load = Task { try await fixture.loader.load(request) }
        await deaf.reached(1)
        sleeping.open()
        await #expect { try await load.value } throws: { error in
            if case .transport(let error, _)? = error as? LoadError { error.code == .timedOut } else { false }
        }
        deaf.open()
    }
}
