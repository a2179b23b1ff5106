import CacheLoader
import Foundation
import Testing

@Suite("ChunkBuffer") struct ChunkBufferTests {
    private typealias Buffer = ChunkBuffer<String>
    private var buffer = Buffer()
    private let half = Data(count: Buffer.highWaterMark / 2)

    private func describe(_ arrival: Buffer.Arrival) -> String {
        switch arrival {
        case .buffered: "buffered"
        case .pause: "pause"
        case .deliver(let waiter): "deliver to \(waiter)"
        }
    }

    private func describe(_ reading: Buffer.Reading) -> String {
        switch reading {
        case .chunk(let chunk, let resume): "\(chunk.count)\(resume ? ", resume" : "")"
        case .complete: "complete"
        case .failed(let error): "failed: \(error)"
        case .wait: "wait"
        }
    }

    @Test("Chunks come out in order, then the end, repeatedly")
    mutating func order() {
        let large = Data(count: Buffer.joinedByteCount)
        #expect(describe(buffer.append(large)) == "buffered")
        #expect(describe(buffer.append(Data([1, 2]))) == "buffered")
        #expect(buffer.end(nil) == nil)
        let read = (0..<4).map { _ in describe(buffer.read("reader")) }
        #expect(read == ["\(large.count)", "2", "complete", "complete"])
    }

    @Test("Small waiting chunks merge up to a limit, but never into a delivered chunk")
    mutating func joining() {
        let limit = Buffer.joinedByteCount
        for number in 0..<(limit + 10) { _ = buffer.append(Data([UInt8(truncatingIfNeeded: number)])) }
        guard case .chunk(let first, _) = buffer.read("reader") else { Issue.record("no chunk"); return }
        #expect(first == Data((0..<limit).map { UInt8(truncatingIfNeeded: $0) }))
        _ = buffer.append(Data([7]))
        #expect(describe(buffer.read("reader")) == "11")
        _ = buffer.append(Data([8]))
        #expect(describe(buffer.read("reader")) == "1")
        #expect(describe(buffer.read("reader")) == "wait")
    }

    @Test("A waiting reader gets the next chunk, or the end")
    mutating func waiting() {
        #expect(describe(buffer.read("reader")) == "wait")
        #expect(describe(buffer.append(Data([1]))) == "deliver to reader")
        #expect(describe(buffer.read("reader")) == "wait")
        #expect(buffer.end(TransportError(.connectionLost)) == "reader")
        #expect(describe(buffer.read("reader")) == "failed: connectionLost")
    }

    @Test("The sender is paused once above the mark, and resumed at half of it")
    mutating func backPressure() {
        let arrivals = (0..<4).map { _ in describe(buffer.append(half)) }
        #expect(arrivals == ["buffered", "buffered", "pause", "buffered"])
        let size = half.count
        let read = (0..<4).map { _ in describe(buffer.read("reader")) }
        #expect(read == ["\(size)", "\(size)", "\(size), resume", "\(size)"])
    }

    @Test("Delivered chunks leave the buffer, although a chunk always waits")
    mutating func delivered() throws {
        let chunk = Data(count: Buffer.joinedByteCount)
        _ = buffer.append(chunk)
        for _ in 0..<1_000 {
            _ = buffer.append(chunk)
            #expect(describe(buffer.read("reader")) == "\(chunk.count)")
        }
        let chunks = Mirror(reflecting: buffer).children.first { $0.label == "chunks" }?.value as? [Data]
        #expect(try #require(chunks).count <= 128)
    }

    @Test("Chunks that arrived before a failure are still delivered; only the first end counts")
    mutating func failure() {
        _ = buffer.append(Data([1]))
        #expect(buffer.end(TransportError(.timedOut)) == nil)
        #expect(buffer.end(nil) == nil)
        let read = (0..<2).map { _ in describe(buffer.read("reader")) }
        #expect(read == ["1", "failed: timedOut"])
    }
}
