internal import CacheImages
internal import TestSupport

/// An "image" is the number of its bytes at the time of decoding. A complete image is negative.
private struct CountingDecoder: ProgressiveImageDecoder {
    let id = ProcessorID("counting")
    var maxPixels = 1 << 20
    /// The minimum number of bytes of an image.
    var needed = 0
    let calls = CallCount()

    func decode(_ data: Data, _ variant: ImageVariant) throws -> Int { -data.count }

    func makeSession(_ variant: ImageVariant) throws -> Session { Session(decoder: self) }

    struct Session: ImageDecodingSession {
        let decoder: CountingDecoder
        var count = 0

        mutating func append(_ bytes: Data) { count += bytes.count }

        func partialImage() -> Int? {
            decoder.calls.increment()
            return count >= decoder.needed ? count : nil
        }

        func finish() throws -> Int {
            guard count >= decoder.needed else { throw ImageError.malformed(reason: "its end is missing") }
            return -count
        }
    }
}

/// A body that a test feeds chunk by chunk.
private struct Feed: Sendable {
    let body: AsyncThrowingStream<Data, any Error>
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
    private let isAbandoned = Flag()

    final class Flag: Sendable {
        let value = Atomic(false)
    }

    init() {
        (body, continuation) = AsyncThrowingStream.makeStream()
        continuation.onTermination = { [isAbandoned] termination in
            if case .cancelled = termination { isAbandoned.value.store(true, ordering: .relaxed) }
        }
    }

    /// Whether the reader stopped before the end.
    var hasNoReader: Bool { isAbandoned.value.load(ordering: .relaxed) }

    func send(_ bytes: Data) { continuation.yield(bytes) }
    func end(_ error: (any Error)? = nil) { continuation.finish(throwing: error) }
}

@Suite("Images with rising detail", .timeLimit(.minutes(5))) struct ProgressiveImagesTests {
    private let png = Data(ImageFixtures.png(width: 500, height: 375))

    /// The bytes of an image of this length.
    private func image(_ byteCount: Int) -> Data { png + Data(count: byteCount - png.count) }

    private func all(_ images: AsyncThrowingStream<Int, any Error>) async throws -> [Int] {
        try await images.reduce(into: []) { $0.append($1) }
    }

    private func send(_ data: Data, in size: Int, to feed: Feed) {
        for start in stride(from: 0, to: data.count, by: size) {
            feed.send(Data(data[start..<min(start + size, data.count)]))
        }
    }

    @Test("checks a header of two million parts in linear time, before the end", arguments: [true, false])
    func longHeader(isTooLarge: Bool) async throws {
        // Empty comments of a JPEG; then an image of 9 × 9, or the end of the body.
        var comments = Data([0xFF, 0xFE, 0x00, 0x02])
        while comments.count < 8_000_000 { comments += comments }
        let frame: [UInt8] = [0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00, 0x09, 0x00, 0x09, 0x01, 0x01, 0x11, 0x00]
        let image = Data([0xFF, 0xD8]) + comments + frame
        let feed = Feed()
        let images = CountingDecoder(maxPixels: isTooLarge ? 80 : 81).images(from: feed.body)
        send(image, in: 4_096, to: feed)
        feed.end()
        if isTooLarge {
            await #expect(throws: ImageError.tooLarge(width: 9, height: 9, maxPixels: 80)) { try await all(images) }
        } else {
            #expect(try await all(images).last == -image.count)
        }
    }

    @Test("each image has more bytes than the previous one; the last image is complete")
    func rising() async throws {
        let feed = Feed()
        var images = CountingDecoder().images(from: feed.body, every: 100).makeAsyncIterator()
        feed.send(image(100))
        #expect(try await images.next() == 100)
        feed.send(Data(count: 99))
        feed.send(Data(count: 1))
        #expect(try await images.next() == 200)
        feed.send(Data(count: 50))
        feed.end()
        #expect(try await images.next() == -250)
        #expect(try await images.next() == nil)
    }

    @Test(
        "the number of decodes grows with the logarithm of the size, for chunks of any size",
        arguments: [10, 1_000, 100_000])
    func rate(_ size: Int) async throws {
        let feed = Feed()
        let decoder = CountingDecoder()
        send(image(3_000_000), in: size, to: feed)
        feed.end()
        let images = try await all(decoder.images(from: feed.body, every: 1_000))
        #expect(images.last == -3_000_000)
        #expect(images == images.dropLast().sorted() + [-3_000_000])
        // Four decodes 1000 bytes apart, then one for each quarter more.
        #expect((20...42).contains(decoder.calls.value) || size == 100_000, "\(decoder.calls.value)")
        #expect(decoder.calls.value <= 42)
    }

    @Test("a slow reader receives the newest image, then the complete one")
    func slowReader() async throws {
        let feed = Feed()
        let decoder = CountingDecoder()
        var images = decoder.images(from: feed.body, every: 1).makeAsyncIterator()
        send(image(10_000), in: 100, to: feed)
        await eventually { decoder.calls.value >= 10 }
        let calls = decoder.calls.value
        let first = try #require(try await images.next())
        // Each decode follows a quarter more bytes than the one before.
        #expect(first >= 100 * calls, "not the first of \(calls) images")
        feed.end()
        var last = first
        while let next = try await images.next() {
            #expect(next > last || next == -10_000)
            last = next
        }
        #expect(last == -10_000)
    }

    @Test("tries again after more bytes if the decoder returns no image; a body that ends too early has no image")
    func tooFew() async throws {
        let decoder = CountingDecoder(needed: 300)
        let feed = Feed()
        var images = decoder.images(from: feed.body, every: 100).makeAsyncIterator()
        send(image(300), in: 100, to: feed)
        #expect(try await images.next() == 300)
        #expect(decoder.calls.value == 3)
        let short = Feed()
        var none = decoder.images(from: short.body).makeAsyncIterator()
        short.send(image(200))
        short.end()
        await #expect(throws: ImageError.malformed(reason: "its end is missing")) { try await none.next() }
    }

    @Test("an error of the body follows the images before it")
    func failingBody() async throws {
        let feed = Feed()
        var images = CountingDecoder().images(from: feed.body, every: 1).makeAsyncIterator()
        feed.send(image(100))
        #expect(try await images.next() == 100)
        feed.end(CancellationError())
        await #expect(throws: CancellationError.self) { try await images.next() }
    }

    @Test("refuses a too large image by its header, before a session receives a byte")
    func tooLarge() async throws {
        let feed = Feed()
        var decoder = CountingDecoder()
        decoder.maxPixels = 100
        var images = decoder.images(from: feed.body, every: 1).makeAsyncIterator()
        for byte in png { feed.send(Data([byte])) }
        await #expect(throws: ImageError.tooLarge(width: 500, height: 375, maxPixels: 100)) { try await images.next() }
        #expect(decoder.calls.value == 0)
    }

    @Test("a variant that fits no image throws before the first image")
    func geometry() async throws {
        let feed = Feed()
        var images = CountingDecoder().images(from: feed.body, ImageVariant(scale: -1)).makeAsyncIterator()
        feed.send(png)
        await #expect(throws: ImageError.invalidScale(-1)) { try await images.next() }
    }

    @Test("a released sequence, and a cancelled reader, stop reading the body", arguments: [true, false])
    func abandoned(_ cancels: Bool) async throws {
        let feed = Feed()
        let decoder = CountingDecoder()
        if cancels {
            let images = decoder.images(from: feed.body, every: 1)
            let reader = Task { try await all(images) }
            feed.send(image(100))
            await eventually { decoder.calls.value != 0 }
            reader.cancel()
            _ = await reader.result
        } else {
            feed.send(image(100))
            var images = Optional(decoder.images(from: feed.body, every: 1))
            await eventually { decoder.calls.value != 0 }
            #expect(images != nil)
            images = nil
        }
        await eventually { feed.hasNoReader }
    }
}
