internal import CacheImages
internal import TestSupport

@Suite struct ImagePlacementTests {
    typealias Sides = (width: Double, height: Double)

    struct Vector: Sendable, CustomTestStringConvertible {
        var image: ImageSize
        var variant: ImageVariant
        var source: ImageRect
        var destination: ImageRect
        var output: ImageSize

        init(
            _ mode: ImageContentMode, _ excess: ImageExcess = [], of image: Sides = (500, 375),
            in display: Sides? = (100, 100), crop: ImageRect? = nil, scale: Double = 1, source: [Double],
            destination: [Double] = [0, 0, 100, 100], output: Sides = (100, 100)
        ) {
            self.image = ImageSize(width: image.width, height: image.height)
            variant = ImageVariant(
                displaySize: display.map { ImageSize(width: $0.width, height: $0.height) }, crop: crop, mode: mode,
                excess: excess, scale: scale)
            self.source = ImageRect(x: source[0], y: source[1], width: source[2], height: source[3])
            self.destination = ImageRect(
                x: destination[0], y: destination[1], width: destination[2], height: destination[3])
            self.output = ImageSize(width: output.width, height: output.height)
        }

        var testDescription: String { "\(image) \(variant)" }
    }

    private func expect(_ vector: Vector) throws {
        let placement = try vector.variant.placement(of: vector.image)
        #expect(placement.source == vector.source)
        #expect(placement.destination == vector.destination)
        #expect(placement.output == vector.output)
    }

    private static let middle = ImageRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
    private static let whole = ImageRect(x: 0, y: 0, width: 1, height: 1)

    @Test(
        "Appendix B", .requirement("F5", "F6"),
        arguments: [
            Vector(.scaleToFill, source: [0, 0, 500, 375]),
            Vector(.aspectFit, source: [0, 0, 500, 375], destination: [0, 12, 100, 75]),
            Vector(
                .aspectFit, .fitCropsExcess, source: [0, 0, 500, 375], destination: [0, 0, 100, 75], output: (100, 75)),
            Vector(.aspectFit, .fillLeavesExcess, source: [0, 0, 500, 375], destination: [0, 12, 100, 75]),
            Vector(.aspectFill, source: [62, 0, 375, 375]),
            Vector(
                .aspectFill, .fillLeavesExcess, source: [0, 0, 500, 375], destination: [0, 0, 133, 100],
                output: (133, 100)),
            Vector(.aspectFill, .fitCropsExcess, source: [62, 0, 375, 375]),
            Vector(.center, source: [200, 137, 100, 100]),
            Vector(.left, source: [0, 137, 100, 100]),
            Vector(.bottomRight, source: [400, 275, 100, 100]),
            Vector(.center, of: (50, 40), source: [0, 0, 50, 40], destination: [25, 30, 50, 40]),
            // 31,0,187,187 of the crop, which is 125,93,250,187 of the image.
            Vector(.aspectFill, crop: middle, source: [125 + 31, 93 + 0, 187, 187]),
            Vector(.aspectFill, crop: whole, source: [62, 0, 375, 375]),
            Vector(.aspectFill, crop: ImageRect(x: 0.5, y: 0.5, width: 0, height: 0), source: [62, 0, 375, 375]),
        ])
    func appendixB(_ vector: Vector) throws { try expect(vector) }

    @Test(
        "without a display size, the image keeps its pixels", .requirement("F6"), arguments: ImageContentMode.allCases,
        [nil, (0, 0), (0, 50), (50, 0)] as [Sides?])
    func original(mode: ImageContentMode, display: Sides?) throws {
        for excess in [[], .fitCropsExcess, .fillLeavesExcess] as [ImageExcess] {
            for crop in [nil, Self.whole, ImageRect(x: 0, y: 0, width: 0, height: 1)] {
                try expect(
                    Vector(
                        mode, excess, in: display, crop: crop, scale: 2, source: [0, 0, 500, 375],
                        destination: [0, 0, 500, 375], output: (500, 375)))
            }
            try expect(
                Vector(
                    mode, excess, in: display, crop: Self.middle, source: [125, 93, 250, 187],
                    destination: [0, 0, 250, 187], output: (250, 187)))
        }
    }

    /// The placements by the modes that do not resize: larger than the area, smaller, and larger in one direction.
    @Test(
        "nine modes pixel by pixel", .requirement("F5"),
        arguments: [
            (.center, 200, 137, 25, 30), (.top, 200, 0, 25, 0), (.bottom, 200, 275, 25, 60),
            (.left, 0, 137, 0, 30), (.right, 400, 137, 50, 30), (.topLeft, 0, 0, 0, 0),
            (.topRight, 400, 0, 50, 0), (.bottomLeft, 0, 275, 0, 60), (.bottomRight, 400, 275, 50, 60),
        ] as [(ImageContentMode, Double, Double, Double, Double)])
    func aligned(mode: ImageContentMode, sourceX: Double, sourceY: Double, x: Double, y: Double) throws {
        for excess in [[], [.fitCropsExcess, .fillLeavesExcess]] as [ImageExcess] {
            for vector in [
                Vector(mode, excess, source: [sourceX, sourceY, 100, 100]),
                Vector(mode, excess, of: (50, 40), source: [0, 0, 50, 40], destination: [x, y, 50, 40]),
                Vector(mode, excess, of: (500, 40), source: [sourceX, 0, 100, 40], destination: [0, y, 100, 40]),
                Vector(mode, excess, of: (50, 375), source: [0, sourceY, 50, 100], destination: [x, 0, 50, 100]),
            ] { try expect(vector) }
        }
    }

    @Test(
        "other proportions, and sizes between pixels", .requirement("F5"),
        arguments: [
            // Upright.
            Vector(.aspectFit, of: (375, 500), source: [0, 0, 375, 500], destination: [12, 0, 75, 100]),
            Vector(.aspectFill, of: (375, 500), source: [0, 62, 375, 375]),
            Vector(
                .aspectFill, .fillLeavesExcess, of: (375, 500), source: [0, 0, 375, 500],
                destination: [0, 0, 100, 133], output: (100, 133)),
            // Enlarged.
            Vector(.aspectFit, of: (50, 40), source: [0, 0, 50, 40], destination: [0, 10, 100, 80]),
            Vector(.aspectFill, of: (50, 40), source: [5, 0, 40, 40]),
            // The binary fractions of 1/3 and 0.29 lose no pixel.
            Vector(
                .aspectFit, of: (300, 900), in: (100, 300), source: [0, 0, 300, 900], destination: [0, 0, 100, 300],
                output: (100, 300)),
            Vector(
                .scaleToFill, of: (100, 100), in: nil, crop: ImageRect(x: 0.29, y: 0.57, width: 0.29, height: 0.1),
                source: [29, 57, 29, 10], destination: [0, 0, 29, 10], output: (29, 10)),
            // A line remains a line.
            Vector(.aspectFit, of: (10_000, 1), source: [0, 0, 10_000, 1], destination: [0, 49, 100, 1]),
            Vector(
                .aspectFill, of: (1, 10_000), in: (100, 10), source: [0, 4999, 1, 1], destination: [0, 0, 100, 10],
                output: (100, 10)),
            // Sizes in points.
            Vector(.aspectFill, in: (50, 50), scale: 2, source: [62, 0, 375, 375]),
            Vector(.center, in: (33.5, 33.5), scale: 3, source: [200, 137, 100, 100]),
            Vector(.scaleToFill, in: (0.2, 0.2), source: [0, 0, 500, 375], destination: [0, 0, 1, 1], output: (1, 1)),
        ])
    func more(_ vector: Vector) throws { try expect(vector) }

    @Test(
        "a crop is clamped to the image", .requirement("F6"),
        arguments: [
            (ImageRect(x: -0.5, y: -0.5, width: 1, height: 1), [0, 0, 250, 187]),
            (ImageRect(x: 0.5, y: 0.5, width: 1, height: 1), [250, 187, 250, 187]),
            (ImageRect(x: -1, y: -1, width: 3, height: 3), [0, 0, 500, 375]),
            (ImageRect(x: 0.999, y: 0.999, width: 9, height: 9), [499, 374, 1, 1]),
            (ImageRect(x: 0, y: 0, width: 1e-9, height: 1), [0, 0, 1, 375]),
            (ImageRect(x: -1e308, y: 0, width: 1.5e308, height: 0.5), [0, 0, 500, 187]),
        ])
    func clamped(crop: ImageRect, source: [Double]) throws {
        let placement = try ImageVariant(crop: crop).placement(of: ImageSize(width: 500, height: 375))
        #expect(placement.source == ImageRect(x: source[0], y: source[1], width: source[2], height: source[3]))
    }

    @Test(
        "a crop outside the image is an error", .requirement("F6"),
        arguments: [
            ImageRect(x: 1, y: 0, width: 1, height: 1), ImageRect(x: 0, y: 1, width: 1, height: 1),
            ImageRect(x: -1, y: 0, width: 1, height: 1), ImageRect(x: 0, y: -2, width: 1, height: 1),
        ])
    func outside(crop: ImageRect) {
        #expect(throws: ImageError.cropOutsideImage(crop)) {
            try ImageVariant(crop: crop).placement(of: ImageSize(width: 500, height: 375))
        }
    }

    /// The case of the error that a placement throws. The numbers in an error may be NaN, which equals nothing.
    private func refusal(_ place: () throws -> ImagePlacement) -> String? {
        let error = #expect(throws: ImageError.self) { try place() }
        return error.flatMap { Mirror(reflecting: $0).children.first?.label }
    }

    @Test(
        "an invalid size, scale or crop throws", .requirement("F6"),
        arguments: [-1, .nan, .infinity, -.infinity, -.leastNonzeroMagnitude, 1e300] as [Double])
    func invalid(number: Double) throws {
        let image = ImageSize(width: 500, height: 375)
        let isTooLarge = number == 1e300
        for size in [ImageSize(width: number, height: 1), ImageSize(width: 1, height: number)] {
            #expect(refusal { try ImageVariant(displaySize: size).placement(of: image) } == "invalidDisplaySize")
            #expect(refusal { try ImageVariant.original.placement(of: size) } == "invalidImageSize")
        }
        // The size error comes first, before another error and with a side of 0.
        #expect(
            refusal { try ImageVariant(displaySize: ImageSize(width: 0, height: number)).placement(of: image) }
                == "invalidDisplaySize")
        guard !isTooLarge else { return }
        #expect(refusal { try ImageVariant(scale: number).placement(of: image) } == "invalidScale")
        for crop in [
            ImageRect(x: 0, y: 0, width: number, height: 1), ImageRect(x: 0, y: 0, width: 1, height: number),
        ] {
            #expect(refusal { try ImageVariant(crop: crop).placement(of: image) } == "invalidCrop")
        }
    }

    @Test("an image has at least one pixel, and a scale is not 0", .requirement("F6"))
    func zero() {
        let size = ImageSize(width: 0.5, height: 1)
        #expect(throws: ImageError.invalidImageSize(size)) { try ImageVariant.original.placement(of: size) }
        #expect(throws: ImageError.invalidScale(0)) {
            try ImageVariant(scale: 0).placement(of: ImageSize(width: 1, height: 1))
        }
    }
}
