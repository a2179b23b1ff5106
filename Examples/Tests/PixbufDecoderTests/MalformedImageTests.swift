internal import CacheImages
internal import Foundation
internal import PixbufDecoder
internal import Testing

@Suite struct MalformedImageTests {
    private static let thumbnail = ImageVariant(displaySize: ImageSize(width: 8, height: 8), mode: .aspectFill)

    @Test(
        "Refuses a truncated image",
        arguments: [Fixtures.baseline, Fixtures.progressive, Fixtures.gray, Fixtures.png, Fixtures.gif])
    func truncated(_ image: Data) throws {
        #expect(throws: Never.self) { try PixbufDecoder().decode(image, Self.thumbnail) }
        // The last byte of a GIF is a trailer, which its loader does not require.
        for count in 0..<image.count - 1 {
            #expect("\(count) of \(image.count) bytes") {
                try PixbufDecoder().decode(image.prefix(count), Self.thumbnail)
            } throws: { error in
                if case ImageError.malformed = error { true } else { false }
            }
        }
    }

    @Test("Ignores bytes after the end", arguments: [Fixtures.baseline, Fixtures.progressive, Fixtures.png])
    func trailer(_ image: Data) throws {
        let decoded = try PixbufDecoder().decode(image + Data(repeating: 0xA5, count: 3000), Self.thumbnail)
        #expect(decoded.width == 8)
    }

    @Test("Decodes or refuses damaged bytes", arguments: [Fixtures.baseline, Fixtures.progressive, Fixtures.png])
    func damaged(_ image: Data) throws {
        // Limits the pixels, because the damage may be in the size.
        let decoder = PixbufDecoder(maxPixels: 1 << 20)
        var decoded = 0
        var refused = 0
        for position in image.indices {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = image
                damaged[position] ^= mask
                do {
                    let image = try decoder.decode(damaged, Self.thumbnail)
                    #expect((image.width, image.height) == (8, 8))
                    decoded += 1
                } catch is ImageError {
                    refused += 1
                }
            }
        }
        #expect(decoded > 0)
        #expect(refused > 0)
    }

    @Test("Refuses other formats", arguments: ["", "<html></html>", "<svg xmlns='http://www.w3.org/2000/svg'/>", "BM"])
    func unknown(_ text: String) {
        #expect(throws: ImageError.malformed(reason: "it is not of a format that is known here")) {
            try PixbufDecoder().decode(Data(text.utf8), .original)
        }
    }

    @Test("Refuses an image with a too large declared size")
    func tooLarge() throws {
        let claim = try Fixtures.claiming(width: 65_500, height: 65_500)
        #expect(throws: ImageError.tooLarge(width: 65_500, height: 65_500, maxPixels: 1 << 26)) {
            try PixbufDecoder().decode(claim, Self.thumbnail)
        }
        #expect(throws: ImageError.tooLarge(width: 64, height: 48, maxPixels: 3_071)) {
            try PixbufDecoder(maxPixels: 3_071).decode(Fixtures.baseline, Self.thumbnail)
        }
        #expect(try PixbufDecoder(maxPixels: 3_072).decode(Fixtures.baseline, Self.thumbnail).width == 8)
    }

    @Test("Refuses a too large output")
    func tooLargeOutput() {
        let variant = ImageVariant(displaySize: ImageSize(width: 10_000, height: 10_000))
        #expect(throws: ImageError.tooLarge(width: 10_000, height: 10_000, maxPixels: 1 << 26)) {
            try PixbufDecoder().decode(Fixtures.baseline, variant)
        }
    }

    @Test("Throws the geometry's error unchanged")
    func geometry() {
        let outside = ImageRect(x: 2, y: 0, width: 1, height: 1)
        #expect(throws: ImageError.cropOutsideImage(outside)) {
            try PixbufDecoder().decode(Fixtures.baseline, ImageVariant(crop: outside))
        }
    }

    @Test("Decodes several images concurrently")
    func concurrent() async throws {
        let images = try await withThrowingTaskGroup(of: PixbufImage.self) { group in
            for image in [Fixtures.baseline, Fixtures.progressive, Fixtures.png, Fixtures.gif] {
                for _ in 0..<25 {
                    group.addTask { try PixbufDecoder().decode(image, Self.thumbnail) }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(images.count == 100)
        for image in images { #expect((image.width, image.height) == (8, 8)) }
    }
}
