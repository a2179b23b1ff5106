#if canImport(ImageIO)
internal import CacheImages
internal import CoreGraphics
internal import TestSupport

@Suite struct ImageIODecoderTests {
    private func data(_ name: String) throws -> Data {
        let image = try #require(ImageFixtures.foreign.first { $0.name == name })
        return try #require(Data(base64Encoded: image.base64))
    }

    @Test(
        "ImageIO decodes an image, original and as a variant", .requirement("F1"),
        arguments: ["png", "gif", "webp lossless"])
    func variants(name: String) async throws {
        let data = try data(name)
        let original = try await ProcessorSample.value(data, as: .image()).cgImage
        #expect(original.width == 3)
        #expect(original.height == 2)
        let variant = ImageVariant(displaySize: ImageSize(width: 10, height: 10), mode: .aspectFit)
        let fitted = try await ProcessorSample.value(data, as: .image(variant)).cgImage
        #expect(fitted.width == 10)
        #expect(fitted.height == 10)
        let crop = ImageVariant(crop: ImageRect(x: 0, y: 0, width: 0.5, height: 0.5))
        let corner = try await ProcessorSample.value(data, as: .image(crop)).cgImage
        #expect(corner.width == 1)
        #expect(corner.height == 1)
    }

    @Test("an unknown format and a too large image throw", .requirement("F1"))
    func errors() async throws {
        await #expect(throws: ImageError.malformed(reason: "ImageIO does not know the format")) {
            try await ProcessorSample.value(Data("<html>".utf8), as: .image())
        }
        let data = try data("png")
        await #expect(throws: ImageError.tooLarge(width: 3, height: 2, maxPixels: 5)) {
            try await ProcessorSample.value(data, as: .image(ImageIODecoder(maxPixels: 5)))
        }
    }
}
#endif
