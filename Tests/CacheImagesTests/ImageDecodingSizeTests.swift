internal import CacheImages
internal import TestSupport

@Suite("The size at which an image is decoded") struct ImageDecodingSizeTests {
    private static let size = ImageSize(width: 4_000, height: 3_000)

    @Test(
        "decodes an image with just enough pixels for the output",
        arguments: [
            (ImageVariant.original, 4_000),
            (ImageVariant(displaySize: ImageSize(width: 400, height: 300)), 400),
            (ImageVariant(displaySize: ImageSize(width: 400, height: 300), scale: 2), 800),
            (ImageVariant(displaySize: ImageSize(width: 400, height: 400), mode: .aspectFill), 534),
            (ImageVariant(displaySize: ImageSize(width: 400, height: 400), mode: .aspectFit), 400),
            (ImageVariant(displaySize: ImageSize(width: 100, height: 600), mode: .scaleToFill), 800),
            (ImageVariant(displaySize: ImageSize(width: 400, height: 300), mode: .center), 4_000),
            (ImageVariant(displaySize: ImageSize(width: 9_000, height: 9_000)), 4_000),
            (
                ImageVariant(
                    displaySize: ImageSize(width: 400, height: 300),
                    crop: ImageRect(x: 0.5, y: 0.5, width: 0.5, height: 0.5)),
                800
            ),
        ])
    func side(_ variant: ImageVariant, _ side: Int) throws {
        #expect(try variant.placement(of: Self.size).decodedSide(of: Self.size) == side)
    }

    @Test("crops and draws an image of its full size by its placement", arguments: ImageContentMode.allCases)
    func fullSize(_ mode: ImageContentMode) throws {
        let variant = ImageVariant(
            displaySize: ImageSize(width: 210, height: 170), crop: ImageRect(x: 0.1, y: 0.2, width: 0.7, height: 0.3),
            mode: mode)
        let placement = try variant.placement(of: Self.size)
        let (crop, area) = placement.part(in: Self.size, of: Self.size)
        #expect(crop == placement.source)
        #expect(area == placement.destination)
    }

    @Test("maps the pixels of a smaller image to the whole one, within its bounds")
    func smaller() throws {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            let size = ImageSize(
                width: Double(Int.random(in: 1...5_000, using: &generator)),
                height: Double(Int.random(in: 1...5_000, using: &generator)))
            let fraction = { Double.random(in: 0...0.5, using: &generator) }
            let variant = ImageVariant(
                displaySize: ImageSize(
                    width: Double(Int.random(in: 1...900, using: &generator)),
                    height: Double(Int.random(in: 1...900, using: &generator))),
                crop: ImageRect(x: fraction(), y: fraction(), width: 0.1 + fraction(), height: 0.1 + fraction()),
                mode: ImageContentMode.allCases.randomElement(using: &generator) ?? .center,
                excess: Bool.random(using: &generator) ? [] : [.fitCropsExcess, .fillLeavesExcess])
            let placement = try variant.placement(of: size)
            // ImageIO rounds the shorter side.
            let factor = Double(placement.decodedSide(of: size)) / max(size.width, size.height)
            let decoded = ImageSize(
                width: max(1, (size.width * factor).rounded()), height: max(1, (size.height * factor).rounded()))
            let (crop, area) = placement.part(in: decoded, of: size)
            #expect(crop.x >= 0, "\(generator)")
            #expect(crop.y >= 0, "\(generator)")
            #expect(crop.width >= 1, "\(generator)")
            #expect(crop.height >= 1, "\(generator)")
            #expect(crop.x + crop.width <= decoded.width, "\(generator)")
            #expect(crop.y + crop.height <= decoded.height, "\(generator)")
            // A corner of the source maps to the same corner of the destination.
            let left = area.x + (placement.source.x * decoded.width / size.width - crop.x) * area.width / crop.width
            let top = area.y + (placement.source.y * decoded.height / size.height - crop.y) * area.height / crop.height
            #expect(abs(left - placement.destination.x) < 0.01, "\(generator)")
            #expect(abs(top - placement.destination.y) < 0.01, "\(generator)")
            // The area covers the destination.
            #expect(area.x < placement.destination.x + 0.01, "\(generator)")
            #expect(area.y < placement.destination.y + 0.01, "\(generator)")
            #expect(area.x + area.width > placement.destination.x + placement.destination.width - 0.01, "\(generator)")
            #expect(
                area.y + area.height > placement.destination.y + placement.destination.height - 0.01, "\(generator)")
        }
    }
}
