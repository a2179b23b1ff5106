import CacheCodings
import TestSupport

@Suite("Codings: a chunk that expands to 256 MiB", .enabled(if: Bomb.areToolsInstalled), .timeLimit(.minutes(5)))
struct BombTests {
    private static let largestPiece = 65_536

    /// Takes all decoded chunks of a decoder, and returns the number of their bytes.
    private func count(_ decoder: ContentDecoder) throws -> (bytes: Int, pieces: Int) {
        var (bytes, pieces) = (0, 0)
        while let piece = try decoder.next() {
            try #require((1...Self.largestPiece).contains(piece.count))
            bytes += piece.count
            pieces += 1
        }
        return (bytes, pieces)
    }

    @Test("A reader gets chunks of at most 64 KiB", .requirement("E13"), arguments: Bomb.all)
    func pieces(_ bomb: Bomb) async throws {
        let body = try await bomb.body()
        #expect(body.count < Bomb.byteCount / 900)
        let decoder = try #require(ContentDecoder([.contentEncoding: bomb.coding], limit: .max))
        decoder.append(body)
        let count = try count(decoder)
        try decoder.finish()
        #expect(count.bytes == Bomb.byteCount)
        #expect(count.pieces <= Bomb.byteCount / Self.largestPiece + 1, "pieces are full")
    }

    @Test("The first decoded chunks need only the first bytes", .requirement("E13"), arguments: Bomb.all)
    func firstPieces(_ bomb: Bomb) async throws {
        let body = try await bomb.body()
        let decoder = try #require(ContentDecoder([.contentEncoding: bomb.coding], limit: .max))
        decoder.append(body.prefix(body.count / 2))
        let first = try count(decoder).bytes
        #expect((1..<Bomb.byteCount).contains(first))
        decoder.append(body.dropFirst(body.count / 2))
        #expect(try first + count(decoder).bytes == Bomb.byteCount)
        try decoder.finish()
    }

    @Test("Each of several codings yields chunks", .requirement("E13"))
    func nested() async throws {
        let body = try await Bomb.gzip.body()
        // Stored blocks of DEFLATE (RFC 1951 §3.2.4) around the bomb: the outer coding is as long as the inner.
        var stored = Data()
        for start in stride(from: 0, to: body.count, by: 65_535) {
            let block = body.dropFirst(start).prefix(65_535)
            let length = UInt16(block.count)
            stored += [start + 65_535 < body.count ? 0 : 1]
            for value in [length, ~length] { stored += [UInt8(value & 0xFF), UInt8(value >> 8)] }
            stored += block
        }
        let decoder = try #require(ContentDecoder([.contentEncoding: "gzip, deflate"], limit: .max))
        decoder.append(stored)
        #expect(try count(decoder).bytes == Bomb.byteCount)
        try decoder.finish()
    }

    @Test("A reader whose task is cancelled gets no further chunk", .requirement("E13"), arguments: Bomb.all)
    func cancelled(_ bomb: Bomb) async throws {
        let body = try await bomb.body()
        let reading = Task {
            let decoder = try #require(ContentDecoder([.contentEncoding: bomb.coding], limit: .max))
            decoder.append(body)
            #expect(try decoder.next() != nil)
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: ContentDecodingError.cancelled) { try decoder.next() }
        }
        try await reading.value
    }
}
