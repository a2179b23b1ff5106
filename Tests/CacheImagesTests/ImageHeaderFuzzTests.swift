internal import CacheImages
internal import TestSupport

/// Damages the first bytes of images. No reader may trap, and every size must be in range.
@Suite struct ImageHeaderFuzzTests {
    private static let rounds = Repetitions.count(2_000_000, debug: 50_000)

    private static let fronts: [[UInt8]] =
        [
            ImageFixtures.jpeg(
                ImageFixtures.segment(0xE0, Array("JFIF\0".utf8)), ImageFixtures.exif(orientation: 6),
                ImageFixtures.frame(width: 500, height: 375)),
            ImageFixtures.jpeg(
                ImageFixtures.exif(orientation: 3, isLittleEndian: true), ImageFixtures.frame(width: 5, height: 3)),
            ImageFixtures.png(
                width: 9, height: 7, ImageFixtures.chunk("gAMA", [1, 2, 3, 4]) + ImageFixtures.chunk("acTL")),
        ] + ImageHeaderTests.cases.map(\.bytes).filter { $0.count < 200 }

    /// The first bytes of an image with some changed, and perhaps cut off.
    private func damaged(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = Self.fronts.randomElement(using: &generator) ?? []
        let telling: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0xC0, 0xD8, 0xFE, 0xFF]
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[index] = telling.randomElement(using: &generator) ?? 0
            default: bytes[index] = .random(in: .min ... .max, using: &generator)
            }
        }
        if Bool.random(using: &generator) { bytes.removeLast(.random(in: 0..<bytes.count, using: &generator)) }
        return bytes
    }

    @Test("No damage makes a header reader trap, return an invalid size or change its result when more bytes arrive")
    func damage() {
        var generator = SeededGenerator()
        var headers = 0
        for _ in 0..<Self.rounds {
            let bytes = damaged(&generator)
            let reading = ImageHeader.reading(Data(bytes))
            if reading != .incomplete, ImageHeader.reading(Data(bytes + [0xFF, 0, 0x2A])) != reading {
                Issue.record("more bytes change \(reading) of \(bytes), \(generator)")
                return
            }
            guard case .header(let header) = reading else { continue }
            headers += 1
            guard (1...0x7FFF_FFFF).contains(header.width), (1...0x7FFF_FFFF).contains(header.height),
                (1...8).contains(header.orientation), header.orientation == 1 || header.format == .jpeg
            else {
                Issue.record("\(header) of \(bytes), \(generator)")
                return
            }
        }
        #expect(headers > Self.rounds / 100, "\(generator)")
    }

    @Test("No random bytes make a header reader trap")
    func noise() {
        var generator = SeededGenerator()
        let signatures: [[UInt8]] = [
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8),
            Array("RIFF\0\0\0\0WEBPVP8X".utf8), Array("RIFF\0\0\0\0WEBPVP8L".utf8), Array("RIFF\0\0\0\0WEBPVP8 ".utf8),
        ]
        var incomplete = 0
        for round in 0..<Self.rounds / 10 {
            var bytes = signatures[round % signatures.count]
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                bytes.append(Bool.random(using: &generator) ? 0xFF : .random(in: .min ... .max, using: &generator))
            }
            if ImageHeader.reading(Data(bytes)) == .incomplete { incomplete += 1 }
        }
        // Only some of the inputs are too short for their format.
        #expect((1..<Self.rounds / 10).contains(incomplete), "\(generator)")
    }
}
