import CacheLoader
import CacheStoreTesting
import Foundation
import TestSupport
import Testing

@Suite("TransportBody: sources") struct TransportBodySourceTests {
    private struct Failure: Error {}

    @Test("Data arrives as one chunk, and empty data as none")
    func data() async throws {
        let body = TransportBody(Data("body".utf8))
        #expect(try await body.next() == Data("body".utf8))
        #expect(try await body.next() == nil)
        #expect(try await body.next() == nil)
        #expect(try await TransportBody(Data()).next() == nil)
    }

    @Test("The chunks of a sequence arrive in order, without empty ones")
    func sequence() async throws {
        let chunks = AsyncStream<Data> { continuation in
            for text in ["", "one", "", "two", ""] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let body = TransportBody(chunks)
        #expect(try await body.next() == Data("one".utf8))
        #expect(try await body.next() == Data("two".utf8))
        #expect(try await body.next() == nil)
    }

    @Test(
        "An error of a sequence ends the body, which is then incomplete",
        arguments: [
            (Failure(), .truncated), (CancellationError(), .cancelled), (TransportError(.timedOut), .timedOut),
        ] as [(any Error, TransportError.Code)])
    func failure(_ failure: any Error, _ code: TransportError.Code) async throws {
        let body = TransportBody(
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("one".utf8))
                continuation.finish(throwing: failure)
            })
        #expect(try await body.next() == Data("one".utf8))
        let error = await #expect(throws: TransportError.self) { try await body.next() }
        #expect(error?.code == code)
    }

    @Test("A stream that ends because its reader was cancelled is an incomplete body")
    func cancellation() async throws {
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("one".utf8))
        let body = TransportBody(chunks)
        #expect(try await body.next() == Data("one".utf8))
        let read = Task { try await body.next() }
        read.cancel()
        let error = await #expect(throws: TransportError.self) { try await read.value }
        #expect(error?.code == .cancelled)
    }

    @Test("Releasing a body ends its stream")
    func release() async throws {
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        let ended = Gate()
        continuation.onTermination = { _ in ended.open() }
        continuation.yield(Data("one".utf8))
        var body: TransportBody? = TransportBody(consume chunks)
        #expect(try await body?.next() == Data("one".utf8))
        body = nil
        await ended.wait()
    }
}
