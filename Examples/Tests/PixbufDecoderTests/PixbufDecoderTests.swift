internal import CacheImages
internal import Foundation
internal import PixbufDecoder
internal import Testing

@Suite struct PixbufDecoderTests {
    private static let size = ImageSize(width: 64, height: 48)

    /// Compares every pixel of the output with the placement: transparent, or the color of a quarter of an image of
    /// `size`. Skips pixels between quarters, where filters mix the colors.
    ///
    /// - Returns: The number of pixels that were compared with a color.
    private func expect(_ image: PixbufImage, is placement: ImagePlacement, of size: ImageSize = Self.size) -> Int {
        #expect(image.width == Int(placement.output.width))
        #expect(image.height == Int(placement.output.height))
        let (source, destination) = (placement.source, placement.destination)
        let (across, down) = (source.width / destination.width, source.height / destination.height)
        // A JPEG stores colors for blocks of 16 pixels.
        let mixed = 1 + max(across, down) + (size == Self.size ? 0 : 16 + size.width / 64)
        var wrong: [String] = []
        var compared = 0
        for y in 0..<image.height {
            for x in 0..<image.width {
                let pixel = image[x, y]
                let (column, row) = (Double(x) + 0.5 - destination.x, Double(y) + 0.5 - destination.y)
                guard 0..<destination.width ~= column, 0..<destination.height ~= row else {
                    if pixel.alpha != 0 { wrong.append("\(x),\(y) should be empty") }
                    continue
                }
                let right = source.x + column * across - size.width / 2
                let below = source.y + row * down - size.height / 2
                guard abs(right) > mixed, abs(below) > mixed else { continue }
                compared += 1
                let there = Fixtures.colors[(below < 0 ? 0 : 2) + (right < 0 ? 0 : 1)]
                if pixel.alpha != 255 || distance(pixel, there) > 6 { wrong.append("\(x),\(y) is \(pixel)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) pixels: \(wrong.prefix(3))")
        return compared
    }

    private func distance(_ pixel: PixbufImage.Pixel, _ color: [Double]) -> Double {
        zip([pixel.red, pixel.green, pixel.blue], color).map { abs(Double($0) - $1) }.max() ?? 0
    }

    private static let displays: [ImageSize] = [
        ImageSize(width: 40, height: 40), ImageSize(width: 100, height: 100), ImageSize(width: 20, height: 60),
        ImageSize(width: 64, height: 48), ImageSize(width: 12, height: 9),
    ]

    @Test("F5: Draws the placement of the geometry", arguments: ImageContentMode.allCases, displays)
    func modes(_ mode: ImageContentMode, _ display: ImageSize) throws {
        let excesses: [ImageExcess] = [[], .fitCropsExcess, .fillLeavesExcess]
        for (excess, scale) in zip(excesses + excesses, [1.0, 1, 1, 2, 2, 2]) {
            let variant = ImageVariant(displaySize: display, mode: mode, excess: excess, scale: scale)
            let placement = try variant.placement(of: Self.size)
            for bytes in [Fixtures.baseline, Fixtures.progressive, Fixtures.png, Fixtures.gif] {
                #expect(expect(try PixbufDecoder().decode(bytes, variant), is: placement) > 0)
            }
        }
    }

    @Test(
        "F6: draws a part of the image",
        arguments: [
            ImageRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5), ImageRect(x: 0.5, y: 0.5, width: 1, height: 1),
            ImageRect(x: 0.1, y: 0, width: 0.3, height: 0.9), ImageRect(x: 0, y: 0, width: 0, height: 0),
        ],
        ImageVariant.Interpolation.allCases)
    func crop(_ crop: ImageRect, _ interpolation: ImageVariant.Interpolation) throws {
        for display in [nil] + Self.displays {
            let variant = ImageVariant(
                displaySize: display, crop: crop, mode: .aspectFit, interpolation: interpolation)
            let placement = try variant.placement(of: Self.size)
            #expect(expect(try PixbufDecoder().decode(Fixtures.baseline, variant), is: placement) > 0)
        }
    }

    @Test("Interpolation uses no pixel outside the crop", arguments: ImageVariant.Interpolation.allCases)
    func sharpBorder(_ interpolation: ImageVariant.Interpolation) throws {
        let variant = ImageVariant(
            displaySize: ImageSize(width: 320, height: 240), crop: ImageRect(x: 0, y: 0, width: 0.5, height: 0.5),
            interpolation: interpolation)
        let image = try PixbufDecoder().decode(Fixtures.png, variant)
        for (x, y) in [(0, 0), (319, 0), (0, 239), (319, 239), (160, 120)] {
            #expect(image[x, y] == image[0, 0])
        }
        #expect(image[0, 0].red == 220)
    }

    // No power of two divides the sides. The modes that shrink the image decode it at a half, a quarter and an eighth.
    @Test("A large JPEG is decoded at a smaller size", arguments: [(291, 217), (643, 483), (1603, 1201)], [12.0, 40])
    func shrunk(_ sides: (Int, Int), _ side: Double) throws {
        let size = ImageSize(width: Double(sides.0), height: Double(sides.1))
        let large = try PixbufDecoder().decode(Fixtures.png, ImageVariant(displaySize: size))
        let jpeg = try large.encoded(as: .jpeg(quality: 95))
        #expect(ImageHeader(jpeg)?.width == sides.0)
        var compared = 0
        for mode in ImageContentMode.allCases {
            let crop = ImageRect(x: 0.1, y: 0.2, width: 0.6, height: 0.7)
            let variant = ImageVariant(displaySize: ImageSize(width: side, height: side), crop: crop, mode: mode)
            compared += expect(try PixbufDecoder().decode(jpeg, variant), is: try variant.placement(of: size), of: size)
        }
        #expect(compared > 0)
    }

    @Test("The decoder applies the EXIF orientation", arguments: 1...8, [true, false])
    func orientation(_ orientation: UInt8, _ isLittleEndian: Bool) throws {
        let image = try PixbufDecoder().decode(Fixtures.turned(orientation, isLittleEndian: isLittleEndian), .original)
        let isTurned = orientation >= 5
        #expect(image.width == (isTurned ? 48 : 64))
        #expect(image.height == (isTurned ? 64 : 48))
        // CIPA DC-008 (Exif 2.32) §4.6.4: the corners of the stored image that appear top left, top right and bottom
        // left.
        let corners = [
            [0, 1, 2], [1, 0, 3], [3, 2, 1], [2, 3, 0], [0, 2, 1], [2, 0, 3], [3, 1, 2], [1, 3, 0],
        ][Int(orientation) - 1]
        for (corner, (x, y)) in zip(corners, [(4, 4), (image.width - 5, 4), (4, image.height - 5)]) {
            #expect(distance(image[x, y], Fixtures.colors[corner]) <= 6, "\(x),\(y) is \(image[x, y])")
        }
        // The geometry applies to the upright image.
        let left = ImageVariant(displaySize: ImageSize(width: 10, height: 20), mode: .aspectFill)
        let part = try PixbufDecoder().decode(Fixtures.turned(orientation, isLittleEndian: isLittleEndian), left)
        #expect((part.width, part.height) == (10, 20))
    }

    @Test("A variant with the stored orientation ignores the EXIF orientation", arguments: 1...8, [1.0, 0.25])
    func storedOrientation(_ orientation: UInt8, _ scale: Double) throws {
        let variant = ImageVariant(
            displaySize: ImageSize(width: 64, height: 48), scale: scale, orientation: .stored)
        let image = try PixbufDecoder().decode(Fixtures.turned(orientation), variant)
        let (width, height) = (Int(64 * scale), Int(48 * scale))
        #expect((image.width, image.height) == (width, height))
        let corners = [(1, 1), (width - 2, 1), (1, height - 2), (width - 2, height - 2)]
        for (corner, (x, y)) in corners.enumerated() {
            #expect(distance(image[x, y], Fixtures.colors[corner]) <= 24, "\(x),\(y) is \(image[x, y])")
        }
    }

    @Test("Grayscale and CMYK JPEGs")
    func colorSpaces() throws {
        let variant = ImageVariant(displaySize: ImageSize(width: 16, height: 12))
        let gray = try PixbufDecoder().decode(Fixtures.gray, variant)
        #expect(gray[2, 2].red == gray[2, 2].green)
        #expect(gray[2, 2].green == gray[2, 2].blue)
        let inks = try PixbufDecoder().decode(Fixtures.cmyk, variant)
        #expect(inks[2, 2].red > 200)
        #expect(inks[2, 2].green < 60)
    }

    @Test("An encoded image decodes to the same pixels")
    func encoding() throws {
        let variant = ImageVariant(displaySize: ImageSize(width: 100, height: 100), mode: .aspectFit)
        let placement = try variant.placement(of: Self.size)
        let image = try PixbufDecoder().decode(Fixtures.png, variant)
        #expect(expect(try PixbufDecoder().decode(image.encoded(as: .png), .original), is: placement) > 0)
        // A JPEG has no transparent pixels.
        let jpeg = try PixbufDecoder().decode(image.encoded(as: .jpeg(quality: 95)), .original)
        #expect(!jpeg.hasAlpha)
        #expect(jpeg[50, 2].red > 250)
        #expect(jpeg[50, 2].green > 250)
        #expect(jpeg[50, 2].blue > 250)
        #expect(try image.encoded(as: .jpeg(quality: 20)).count < image.encoded(as: .jpeg(quality: 95)).count)
        #expect(image.memoryCost >= 100 * 100 * 4)
    }
}
