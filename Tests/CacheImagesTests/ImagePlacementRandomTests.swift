internal import CacheImages
internal import TestSupport

/// Places images of random sizes in areas of random sizes.
@Suite struct ImagePlacementRandomTests {
    private static let lengths: [ClosedRange<Double>] = [1...1, 1...10, 1...5000, 1...65_535, 1...4_294_967_296]

    private func length(_ generator: inout SeededGenerator) -> Double {
        Double.random(in: Self.lengths.randomElement(using: &generator) ?? 1...1, using: &generator).rounded()
    }

    private func isInside(_ rect: ImageRect, _ size: ImageSize) -> Bool {
        let numbers = [rect.x, rect.y, rect.width, rect.height, size.width, size.height]
        return rect.x >= 0 && rect.y >= 0 && rect.width >= 1 && rect.height >= 1
            && rect.x + rect.width <= size.width && rect.y + rect.height <= size.height
            && numbers.allSatisfy { $0 == $0.rounded() }
    }

    @Test("for any variant the source lies inside the image and the destination inside the output", .requirement("F5"))
    func random() throws {
        var generator = SeededGenerator()
        var placed = 0
        for _ in 0..<50_000 {
            let image = ImageSize(width: length(&generator), height: length(&generator))
            let crop: ImageRect? =
                Bool.random(using: &generator)
                ? nil
                : ImageRect(
                    x: .random(in: -0.5...1.5, using: &generator), y: .random(in: -0.5...1.5, using: &generator),
                    width: .random(in: 0...1.5, using: &generator), height: .random(in: 0...1.5, using: &generator))
            let variant = ImageVariant(
                displaySize: ImageSize(
                    width: .random(in: 0...3000, using: &generator), height: .random(in: 0...3000, using: &generator)),
                crop: crop, mode: ImageContentMode.allCases.randomElement(using: &generator) ?? .center,
                excess: ImageExcess(rawValue: .random(in: 0...3, using: &generator)),
                scale: [1, 1.5, 2, 3].randomElement(using: &generator) ?? 1)
            let placement: ImagePlacement
            do throws(ImageError) {
                placement = try variant.placement(of: image)
            } catch {
                guard case .cropOutsideImage = error else { throw error }
                continue
            }
            placed += 1
            guard isInside(placement.source, image), isInside(placement.destination, placement.output),
                keepsProportions(placement, variant)
            else {
                Issue.record("\(image), \(variant): \(placement), \(generator)")
                return
            }
        }
        #expect(placed > 10_000)
    }

    /// Whether the image keeps its proportions, within a pixel in the rounded direction.
    private func keepsProportions(_ placement: ImagePlacement, _ variant: ImageVariant) -> Bool {
        let (source, destination) = (placement.source, placement.destination)
        switch variant.mode {
        case .scaleToFill:
            return destination == ImageRect(placement.output)
        case .aspectFit, .aspectFill:
            if variant.mode == .aspectFill, !variant.excess.contains(.fillLeavesExcess) {
                return isClose(source, destination)
            }
            return isClose(destination, source)
        default:
            return source.size == destination.size
        }
    }

    /// Whether `rect` has the proportions of `other`, within one pixel in one side.
    private func isClose(_ rect: ImageRect, _ other: ImageRect) -> Bool {
        let height = rect.width * other.height / other.width
        let width = rect.height * other.width / other.height
        return abs(rect.height - height) <= 1 || abs(rect.width - width) <= 1
    }
}
