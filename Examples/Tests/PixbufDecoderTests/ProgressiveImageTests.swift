internal import CacheImages
internal import Foundation
internal import PixbufDecoder
internal import Testing

@Suite("Images with rising detail")
struct ProgressiveImageTests {
    /// Returns a body in pieces.
    private func body(_ data: Data, in size: Int) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: data.count, by: size) {
                continuation.yield(Data(data[start..<min(start + size, data.count)]))
            }
            continuation.finish()
        }
    }

    /// Returns the mean color difference of two images of the same size.
    private func difference(_ one: PixbufImage, _ other: PixbufImage) -> Double {
        var sum = 0
        for y in 0..<one.height {
            for x in 0..<one.width {
                let (left, right) = (one[x, y], other[x, y])
                for (a, b) in [(left.red, right.red), (left.green, right.green), (left.blue, right.blue)] {
                    sum += abs(Int(a) - Int(b))
                }
            }
        }
        return Double(sum) / Double(3 * one.width * one.height)
    }

    private func partials(_ data: Data, _ variant: ImageVariant, in size: Int) throws -> [PixbufImage] {
        var session = PixbufDecoder().makeSession(variant)
        var images: [PixbufImage] = []
        for start in stride(from: 0, to: data.count, by: size) {
            try session.append(Data(data[start..<min(start + size, data.count)]))
            if let image = try session.partialImage() { images.append(image) }
        }
        images.append(try session.finish())
        return images
    }

    private static let variants = [
        ImageVariant.original, ImageVariant(displaySize: ImageSize(width: 20, height: 20), mode: .aspectFill),
        ImageVariant(crop: ImageRect(x: 0, y: 0.5, width: 0.5, height: 0.5)),
    ]

    @Test(
        "the last image equals the one decoded from all bytes, and detail never decreases",
        arguments: [Fixtures.baseline, Fixtures.progressive, Fixtures.png, Fixtures.gif], variants)
    func last(_ data: Data, _ variant: ImageVariant) throws {
        let whole = try PixbufDecoder().decode(data, variant)
        let images = try partials(data, variant, in: 40)
        let differences = images.map { difference($0, whole) }
        #expect(differences.last == 0)
        #expect(images.allSatisfy { $0.width == whole.width && $0.height == whole.height })
        // Tolerates a small overshoot of a scan.
        #expect(zip(differences, differences.dropFirst()).allSatisfy { $0 >= $1 - 3 }, "\(differences)")
    }

    @Test("a progressive JPEG shows the whole image long before its last byte")
    func early() throws {
        let noise = try PixbufDecoder().decode(
            Fixtures.progressive, ImageVariant(displaySize: ImageSize(width: 64, height: 48)))
        let images = try partials(Fixtures.progressive, .original, in: 20)
        #expect(images.count > 5)
        let first = try #require(images.firstIndex { difference($0, noise) < 20 })
        #expect(first < images.count / 2, "\(first) of \(images.count)")
        // Later bytes do not change an earlier image.
        #expect(difference(images[0], noise) > 20)
    }

    @Test(
        "a body becomes images with rising detail", arguments: [Fixtures.baseline, Fixtures.progressive, Fixtures.png])
    func body(_ data: Data) async throws {
        var last: PixbufImage?
        for try await image in PixbufDecoder().images(from: body(data, in: 50), every: 50) { last = image }
        #expect(difference(try #require(last), try PixbufDecoder().decode(data, .original)) == 0)
    }

    @Test("a truncated image ends with an error", arguments: [Fixtures.baseline, Fixtures.progressive, Fixtures.png])
    func truncated(_ data: Data) async throws {
        await #expect(throws: ImageError.malformed(reason: "its end is missing")) {
            for try await _ in PixbufDecoder().images(from: body(data.dropLast(20), in: 50), every: 50) {}
        }
    }

    @Test("bytes that are no image, and an image that is too large, end with an error")
    func refused() async throws {
        await #expect(throws: ImageError.malformed(reason: "it is not of a format that is known here")) {
            for try await _ in PixbufDecoder().images(from: body(Data("<html>".utf8), in: 1)) {}
        }
        let claim = try Fixtures.claiming(width: 65_500, height: 65_500)
        await #expect(throws: ImageError.tooLarge(width: 65_500, height: 65_500, maxPixels: 1 << 26)) {
            for try await _ in PixbufDecoder().images(from: body(claim, in: 10)) {}
        }
    }

    @Test("the orientation applies to every image", arguments: [1, 3, 6, 8] as [UInt8])
    func orientation(_ orientation: UInt8) throws {
        let data = Fixtures.turned(orientation)
        let whole = try PixbufDecoder().decode(data, .original)
        for image in try partials(data, .original, in: 60) {
            #expect((image.width, image.height) == (whole.width, whole.height))
        }
    }
}
