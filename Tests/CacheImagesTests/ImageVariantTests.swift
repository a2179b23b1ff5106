internal import CacheImages
internal import TestSupport

@Suite struct ImageVariantTests {
    /// Returns the requested variant.
    private struct Echo: ImageDecoder {
        var id = ProcessorID("echo")
        func decode(_ data: Data, _ variant: ImageVariant) throws -> ImageVariant { variant }
    }

    private func id(_ variant: ImageVariant) -> ProcessorID { ImageProcessor(Echo(), variant).id }

    private let variant = ImageVariant(
        displaySize: ImageSize(width: 100, height: 75), crop: ImageRect(x: 0, y: 0.25, width: 1, height: 0.5),
        mode: .aspectFill, excess: .fillLeavesExcess, interpolation: .low, scale: 2)

    @Test("each changed field changes the id; equal fields have equal ids", .requirement("F3"))
    func fields() {
        var variants = [variant]
        func change(_ change: (inout ImageVariant) -> Void) {
            var other = variant
            change(&other)
            variants.append(other)
        }
        change { $0.displaySize = nil }
        change { $0.displaySize?.width = 101 }
        change { $0.displaySize?.height = 75.5 }
        change { $0.displaySize = ImageSize(width: 75, height: 100) }
        change { $0.crop = nil }
        change { $0.crop?.x = 0.1 }
        change { $0.crop?.y = 0 }
        change { $0.crop?.width = 0.5 }
        change { $0.crop?.height = 0.25 }
        for mode in ImageContentMode.allCases where mode != variant.mode { change { $0.mode = mode } }
        change { $0.excess = [] }
        change { $0.excess = .fitCropsExcess }
        change { $0.excess = [.fitCropsExcess, .fillLeavesExcess] }
        for interpolation in ImageVariant.Interpolation.allCases where interpolation != variant.interpolation {
            change { $0.interpolation = interpolation }
        }
        change { $0.scale = 1 }
        change { $0.scale = 2.5 }
        change { $0.orientation = .stored }
        change { $0.colorSpace = .sRGB }
        change { $0.colorSpace = .displayP3 }
        change { ($0.orientation, $0.colorSpace) = (.stored, .sRGB) }
        #expect(variants.count == 33)
        #expect(Set(variants.map(id)).count == variants.count)
        #expect(variants.map(id) == variants.map(id))
    }

    @Test("the decoder and its version are part of the id", .requirement("F3"))
    func decoder() {
        let ids = ["echo", "other"].flatMap { name in
            [1, 2].map { ImageProcessor(Echo(id: ProcessorID(name, version: $0)), variant).id }
        }
        #expect(Set(ids).count == 4)
        #expect(ids[0] == id(variant))
    }

    @Test("the text of an id; the original's id contains neither size nor crop", .requirement("F3", "F4"))
    func text() {
        #expect(
            id(variant).description
                == "image@1;colors=image;crop=0,0.25,1,0.5;decoder=echo%401;excess=2;interpolation=low;mode=aspectFill;orientation=upright;scale=2;size=100x75"
        )
        #expect(
            id(.original).description
                == "image@1;colors=image;decoder=echo%401;excess=0;interpolation=high;mode=scaleToFill;orientation=upright;scale=1"
        )
        #expect(
            id(ImageVariant(orientation: .stored, colorSpace: .displayP3)).description
                == "image@1;colors=displayP3;decoder=echo%401;excess=0;interpolation=high;mode=scaleToFill;orientation=stored;scale=1"
        )
    }

    @Test("a variant without effect has the original's id", .requirement("F6"))
    func nothing() {
        var variant = ImageVariant.original
        for size in [
            ImageSize(width: 0, height: 0), ImageSize(width: 0, height: 50), ImageSize(width: -0.0, height: 1),
        ] {
            variant.displaySize = size
            #expect(id(variant) == id(.original), "\(size)")
        }
        variant.displaySize = nil
        for crop in [ImageRect(x: 0, y: 0, width: 1, height: 1), ImageRect(x: 0.5, y: 0.5, width: 0, height: 0)] {
            variant.crop = crop
            #expect(id(variant) == id(.original), "\(crop)")
        }
    }

    @Test("the decoder receives the requested variant, and its result is the image", .requirement("F1"))
    func image() async throws {
        #expect(try await ProcessorSample.value(Data([1]), as: .image(Echo(), variant)) == variant)
        #expect(try await ProcessorSample.value(Data([1]), as: .image(Echo())) == .original)
    }

    // MARK: Limits

    /// Counts the images that reach the decoder.
    private struct Careful: ImageDecoder {
        let id = ProcessorID("careful")
        let maxPixels = 10_000
        let calls = CallCount()
        func decode(_ data: Data, _ variant: ImageVariant) throws { calls.increment() }
    }

    @Test("an image whose header exceeds the limit does not reach the decoder", .requirement("F1"))
    func tooLarge() async throws {
        let decoder = Careful()
        let bomb = Data(ImageFixtures.png(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF))
        await #expect(throws: ImageError.tooLarge(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, maxPixels: 10_000)) {
            try await ProcessorSample.value(bomb, as: .image(decoder))
        }
        let image = Data(ImageFixtures.png(width: 100, height: 100))
        let enlarged = ImageVariant(displaySize: ImageSize(width: 101, height: 100))
        await #expect(throws: ImageError.tooLarge(width: 101, height: 100, maxPixels: 10_000)) {
            try await ProcessorSample.value(image, as: .image(decoder, enlarged))
        }
        let wrong = ImageVariant(scale: -1)
        await #expect(throws: ImageError.invalidScale(-1)) {
            try await ProcessorSample.value(image, as: .image(decoder, wrong))
        }
        #expect(decoder.calls.value == 0)
        try await ProcessorSample.value(image, as: .image(decoder))
        // If the header is unreadable, the decoder decides.
        try await ProcessorSample.value(Data("<svg/>".utf8), as: .image(decoder))
        #expect(decoder.calls.value == 2)
    }

    @Test("the default limit is 8192 by 8192 pixels; a decoder may set another", .requirement("F1"))
    func defaultLimit() { #expect(Echo().maxPixels == 67_108_864) }
}
