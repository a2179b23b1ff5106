internal import CacheImages
internal import TestSupport
internal import Testing

@Suite struct ImagePlacementTests {
    typealias Sides = (width: Double, height: Double)

    struct Vector: Sendable, CustomTestStringConvertible {
        var image: ImageSize
        var variant: ImageVariant
        var source: ImageRect
        var destination: ImageRect
        var output: ImageSize

        init(
            _ image: Sides, in display: Sides?, _ mode: ImageContentMode, _ excess: ImageExcess = [],
            crop: ImageRect? = nil, scale: Double = 1, source: [Double], destination: [Double], output: Sides
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
            Vector(
                (500, 375), in: (100, 100), .scaleToFill,
                source: [0, 0, 500, 375], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFit,
                source: [0, 0, 500, 375], destination: [0, 12, 100, 75], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFit, .fitCropsExcess,
                source: [0, 0, 500, 375], destination: [0, 0, 100, 75], output: (100, 75)),
            Vector(
                (500, 375), in: (100, 100), .aspectFit, .fillLeavesExcess,
                source: [0, 0, 500, 375], destination: [0, 12, 100, 75], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFill,
                source: [62, 0, 375, 375], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFill, .fillLeavesExcess,
                source: [0, 0, 500, 375], destination: [0, 0, 133, 100], output: (133, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFill, .fitCropsExcess,
                source: [62, 0, 375, 375], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .center,
                source: [200, 137, 100, 100], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .left,
                source: [0, 137, 100, 100], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .bottomRight,
                source: [400, 275, 100, 100], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (50, 40), in: (100, 100), .center,
                source: [0, 0, 50, 40], destination: [25, 30, 50, 40], output: (100, 100)),
            // 31,0,187,187 of the crop, which is 125,93,250,187 of the image.
            Vector(
                (500, 375), in: (100, 100), .aspectFill, crop: middle,
                source: [125 + 31, 93 + 0, 187, 187], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFill, crop: whole,
                source: [62, 0, 375, 375], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (100, 100), .aspectFill, crop: ImageRect(x: 0.5, y: 0.5, width: 0, height: 0),
                source: [62, 0, 375, 375], destination: [0, 0, 100, 100], output: (100, 100)),
        ])
    func appendixB(_ vector: Vector) throws {
        try expect(vector)
    }

    @Test(
        "without a display size, the image keeps its pixels", .requirement("F6"), arguments: ImageContentMode.allCases,
        [nil, (0, 0), (0, 50), (50, 0)] as [Sides?])
    func original(mode: ImageContentMode, display: Sides?) throws {
        for excess in [[], .fitCropsExcess, .fillLeavesExcess] as [ImageExcess] {
            for crop in [nil, Self.whole, ImageRect(x: 0, y: 0, width: 0, height: 1)] {
                try expect(
                    Vector(
                        (500, 375), in: display, mode, excess, crop: crop, scale: 2,
                        source: [0, 0, 500, 375], destination: [0, 0, 500, 375], output: (500, 375)))
            }
            try expect(
                Vector(
                    (500, 375), in: display, mode, excess, crop: Self.middle,
                    source: [125, 93, 250, 187], destination: [0, 0, 250, 187], output: (250, 187)))
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
        let area: Sides = (100, 100)
        for excess in [[], [.fitCropsExcess, .fillLeavesExcess]] as [ImageExcess] {
            try expect(
                Vector(
                    (500, 375), in: area, mode, excess,
                    source: [sourceX, sourceY, 100, 100], destination: [0, 0, 100, 100], output: area))
            try expect(
                Vector(
                    (50, 40), in: area, mode, excess,
                    source: [0, 0, 50, 40], destination: [x, y, 50, 40], output: area))
            try expect(
                Vector(
                    (500, 40), in: area, mode, excess,
                    source: [sourceX, 0, 100, 40], destination: [0, y, 100, 40], output: area))
            try expect(
                Vector(
                    (50, 375), in: area, mode, excess,
                    source: [0, sourceY, 50, 100], destination: [x, 0, 50, 100], output: area))
        }
    }

    @Test(
        "other proportions, and sizes between pixels", .requirement("F5"),
        arguments: [
            // Upright.
            Vector(
                (375, 500), in: (100, 100), .aspectFit,
                source: [0, 0, 375, 500], destination: [12, 0, 75, 100], output: (100, 100)),
            Vector(
                (375, 500), in: (100, 100), .aspectFill,
                source: [0, 62, 375, 375], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (375, 500), in: (100, 100), .aspectFill, .fillLeavesExcess,
                source: [0, 0, 375, 500], destination: [0, 0, 100, 133], output: (100, 133)),
            // Enlarged.
            Vector(
                (50, 40), in: (100, 100), .aspectFit,
                source: [0, 0, 50, 40], destination: [0, 10, 100, 80], output: (100, 100)),
            Vector(
                (50, 40), in: (100, 100), .aspectFill,
                source: [5, 0, 40, 40], destination: [0, 0, 100, 100], output: (100, 100)),
            // The binary fractions of 1/3 and 0.29 lose no pixel.
            Vector(
                (300, 900), in: (100, 300), .aspectFit,
                source: [0, 0, 300, 900], destination: [0, 0, 100, 300], output: (100, 300)),
            Vector(
                (100, 100), in: nil, .scaleToFill, crop: ImageRect(x: 0.29, y: 0.57, width: 0.29, height: 0.1),
                source: [29, 57, 29, 10], destination: [0, 0, 29, 10], output: (29, 10)),
            // A line remains a line.
            Vector(
                (10_000, 1), in: (100, 100), .aspectFit,
                source: [0, 0, 10_000, 1], destination: [0, 49, 100, 1], output: (100, 100)),
            Vector(
                (1, 10_000), in: (100, 10), .aspectFill,
                source: [0, 4999, 1, 1], destination: [0, 0, 100, 10], output: (100, 10)),
            // Sizes in points.
            Vector(
                (500, 375), in: (50, 50), .aspectFill, scale: 2,
                source: [62, 0, 375, 375], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (33.5, 33.5), .center, scale: 3,
                source: [200, 137, 100, 100], destination: [0, 0, 100, 100], output: (100, 100)),
            Vector(
                (500, 375), in: (0.2, 0.2), .scaleToFill,
                source: [0, 0, 500, 375], destination: [0, 0, 1, 1], output: (1, 1)),
        ])
    func more(_ vector: Vector) throws {
        try expect(vector)
    }

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
        #expect(throws: ImageGeometryError.cropOutsideImage(crop)) {
            try ImageVariant(crop: crop).placement(of: ImageSize(width: 500, height: 375))
        }
    }

    @Test(
        "an invalid size, scale or crop throws", .requirement("F6"),
        arguments: [-1, .nan, .infinity, -.infinity, -.leastNonzeroMagnitude, 1e300] as [Double])
    func invalid(number: Double) throws {
        let image = ImageSize(width: 500, height: 375)
        let isTooLarge = number == 1e300
        for size in [ImageSize(width: number, height: 1), ImageSize(width: 1, height: number)] {
            #expect {
                try ImageVariant(displaySize: size).placement(of: image)
            } throws: {
                if case .invalidDisplaySize = $0 as? ImageGeometryError { true } else { false }
            }
            #expect {
                try ImageVariant.original.placement(of: size)
            } throws: {
                if case .invalidImageSize = $0 as? ImageGeometryError { true } else { false }
            }
        }
        // The size error comes first, before another error and with a side of 0.
        #expect {
            try ImageVariant(displaySize: ImageSize(width: 0, height: number)).placement(of: image)
        } throws: {
            if case .invalidDisplaySize = $0 as? ImageGeometryError { true } else { false }
        }
        guard !isTooLarge else { return }
        #expect {
            try ImageVariant(scale: number).placement(of: image)
        } throws: {
            if case .invalidScale = $0 as? ImageGeometryError { true } else { false }
        }
        for crop in [
            ImageRect(x: 0, y: 0, width: number, height: 1), ImageRect(x: 0, y: 0, width: 1, height: number),
        ] {
            #expect {
                try ImageVariant(crop: crop).placement(of: image)
            } throws: {
                if case .invalidCrop = $0 as? ImageGeometryError { true } else { false }
            }
        }
    }

    @Test("an image has at least one pixel, a scale is not 0, and errors name the cause", .requirement("F6"))
    func descriptions() {
        let size = ImageSize(width: 0.5, height: 1)
        #expect(throws: ImageGeometryError.invalidImageSize(size)) { try ImageVariant.original.placement(of: size) }
        #expect(throws: ImageGeometryError.invalidScale(0)) {
            try ImageVariant(scale: 0).placement(of: ImageSize(width: 1, height: 1))
        }
        let rect = ImageRect(x: -0.0, y: 0.25, width: 1, height: -2)
        let texts = [
            ImageGeometryError.invalidImageSize(size), .invalidDisplaySize(size), .invalidScale(0), .invalidCrop(rect),
            .cropOutsideImage(rect),
        ].map { "\($0)" }
        #expect(
            texts == [
                "an image cannot have the size 0.5x1", "an image cannot be shown at the size 0.5x1",
                "an image cannot be shown at the scale 0", "0,0.25,1,-2 is no part of an image",
                "the part 0,0.25,1,-2 is outside the image",
            ])
    }
}
