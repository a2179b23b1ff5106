internal import CacheImages
import TestSupport

@Suite struct ImageHeaderTests {
    typealias Fixtures = ImageFixtures

    private func sides(_ header: ImageHeader) -> [Int] { [header.width, header.height] }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let format: ImageHeader.Format
        let width: Int
        let height: Int

        init(_ name: String, _ bytes: [UInt8], _ format: ImageHeader.Format, _ width: Int, _ height: Int) {
            (testDescription, self.bytes, self.format, self.width, self.height) = (name, bytes, format, width, height)
        }
    }

    static let cases: [Case] = [
        Case("png", Fixtures.png(width: 500, height: 375), .png, 500, 375),
        Case("png, the largest", Fixtures.png(width: 0x7FFF_FFFF, height: 1), .png, 0x7FFF_FFFF, 1),
        Case(
            "png with a profile before its pixels",
            Fixtures.png(
                width: 500, height: 375,
                Fixtures.chunk("iCCP", Array(repeating: 7, count: 3000)) + Fixtures.chunk("gAMA", [0, 0, 0, 1])
                    + Fixtures.chunk("IDAT")), .png, 500, 375),
        Case(
            "apng", Fixtures.png(width: 9, height: 7, Fixtures.chunk("acTL", [0, 0, 0, 2]) + Fixtures.chunk("IDAT")),
            .apng, 9, 7),
        Case(
            "apng, later", Fixtures.png(width: 9, height: 7, Fixtures.chunk("gAMA") + Fixtures.chunk("acTL", [0, 0])),
            .apng, 9, 7),
        Case(
            "png with an acTL too late",
            Fixtures.png(width: 9, height: 7, Fixtures.chunk("IDAT") + Fixtures.chunk("acTL")), .png, 9, 7),
        Case("gif 87a", Fixtures.gif("87a", width: 500, height: 375), .gif, 500, 375),
        Case("gif 89a", Fixtures.gif(width: 65_535, height: 1), .gif, 65_535, 1),
        Case("webp lossy", Fixtures.lossy(width: 500, height: 375), .webp, 500, 375),
        // The upper two bits of a side are the scale.
        Case("webp lossy, scaled", Fixtures.lossy(width: 500 | 0x4000, height: 375 | 0xC000), .webp, 500, 375),
        Case("webp lossless", Fixtures.lossless(width: 500, height: 375), .webp, 500, 375),
        Case("webp lossless, the largest", Fixtures.lossless(width: 16_384, height: 16_384), .webp, 16_384, 16_384),
        Case("webp extended", Fixtures.extended(width: 500, height: 375), .webp, 500, 375),
        Case("webp extended, the largest", Fixtures.extended(width: 1 << 24, height: 255), .webp, 1 << 24, 255),
        Case("jpeg", Fixtures.jpeg(Fixtures.frame(width: 500, height: 375)), .jpeg, 500, 375),
        Case(
            "jpeg with tables first",
            Fixtures.jpeg(
                Fixtures.segment(0xE0, Array("JFIF\0".utf8)), Fixtures.segment(0xDB, Array(repeating: 0xFF, count: 65)),
                Fixtures.segment(0xC4, [0xC0, 0xFF, 0xC0]), Fixtures.frame(width: 500, height: 375)),
            .jpeg, 500, 375),
        Case(
            "jpeg with fill bytes and markers without a segment",
            Fixtures.jpeg(
                [0xFF, 0xFF, 0xFF], Fixtures.segment(0xFE, []), [0xFF, 0x01, 0xFF, 0xD0, 0xFF, 0xFF],
                Fixtures.frame(width: 500, height: 375)),
            .jpeg, 500, 375),
        Case(
            "jpeg with bytes between segments",
            Fixtures.jpeg(
                Fixtures.segment(0xFE, [1]), [0, 0xC0, 0xFF, 0x00, 0x11], Fixtures.frame(width: 500, height: 375)),
            .jpeg, 500, 375),
    ]

    @Test("Reads format and size from the first bytes of an image", arguments: cases)
    func front(_ example: Case) throws {
        let header = try #require(ImageHeader(Data(example.bytes)))
        #expect(header.format == example.format)
        #expect(sides(header) == [example.width, example.height])
        #expect(header.orientation == 1)
        // Later bytes and the offset in memory change nothing.
        #expect(ImageHeader(Data(example.bytes + Array(repeating: 0xFF, count: 50))) == header)
        #expect(ImageHeader(Data([1, 2, 3] + example.bytes).dropFirst(3)) == header)
    }

    @Test("Reads format and size of images from other encoders", arguments: ImageFixtures.foreign.map(\.name))
    func foreign(name: String) throws {
        let image = try #require(ImageFixtures.foreign.first { $0.name == name })
        let data = try #require(Data(base64Encoded: image.base64))
        let header = try #require(ImageHeader(data))
        #expect(name.hasPrefix(header.format.rawValue))
        #expect(name == "apng" || header.format != .apng)
        let isTurned = name == "jpeg turned"
        let expected = isTurned ? [2, 3] : [3, 2]
        #expect(sides(header) == expected)
        #expect(header.orientation == (isTurned ? 6 : 1))
    }

    @Test(
        "Reads a truncated image as incomplete, until the header is whole; then always the same header",
        arguments: cases)
    func truncated(_ example: Case) {
        let whole = ImageHeader.reading(Data(example.bytes))
        var hasSpoken = false
        for count in 0...example.bytes.count {
            let reading = ImageHeader.reading(Data(example.bytes.prefix(count)))
            guard reading != .incomplete else {
                #expect(!hasSpoken)
                #expect(count < example.bytes.count)
                continue
            }
            hasSpoken = true
            #expect(reading == whole)
        }
    }

    @Test("Exactly the frame markers of JPEG contain the size", arguments: 0xC0...0xCF as ClosedRange<UInt8>)
    func frames(marker: UInt8) throws {
        let image = Fixtures.jpeg(Fixtures.frame(marker, width: 3, height: 2), Fixtures.frame(width: 30, height: 20))
        let isFrame = ![0xC4, 0xC8, 0xCC].contains(marker)
        let header = try #require(ImageHeader(Data(image)))
        let expected = isFrame ? [3, 2] : [30, 20]
        #expect(sides(header) == expected)
    }

    @Test("EXIF orientations from 5 on swap the sides", arguments: 1...8, [false, true])
    func orientation(orientation: Int, isLittleEndian: Bool) throws {
        let image = Fixtures.jpeg(
            Fixtures.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8)),
            Fixtures.exif(orientation: orientation, isLittleEndian: isLittleEndian),
            Fixtures.exif(orientation: orientation == 1 ? 6 : 1), Fixtures.frame(width: 500, height: 375))
        let header = try #require(ImageHeader(Data(image)))
        #expect(header.orientation == orientation)
        let expected = orientation < 5 ? [500, 375] : [375, 500]
        #expect(sides(header) == expected)
    }

    /// Replaces the offset of the directory.
    private static func exif(offset: Int) -> [UInt8] {
        var segment = Fixtures.exif(orientation: 6)
        segment.replaceSubrange(14..<18, with: Fixtures.bigEndian(offset, 4))
        return segment
    }

    @Test(
        "A malformed EXIF segment does not rotate the image",
        arguments: [
            Fixtures.exif(orientation: 0), Fixtures.exif(orientation: 9), Fixtures.exif(orientation: 6, type: 4),
            Fixtures.exif(orientation: 6, count: 2), exif(offset: 0xFFFF_FFFF), exif(offset: 0x7FFF_FFFF),
            exif(offset: 40), exif(offset: 0),
            Fixtures.segment(0xE1, Array("Exif\0\0".utf8)), Fixtures.segment(0xE1, Array("Exif\0\0MM\0*".utf8)),
            Fixtures.segment(0xE1, Array("Exif\0\0ML\0*\0\0\0\u{8}\0\0".utf8)), Fixtures.segment(0xE1, []),
            // The value lies after the end.
            Fixtures.segment(0xE1, Array(Fixtures.exif(orientation: 1).dropFirst(4).dropLast(8))) + [0, 6, 0, 0],
        ])
    func malformedEXIF(segment: [UInt8]) throws {
        let header = try #require(ImageHeader(Data(Fixtures.jpeg(segment, Fixtures.frame(width: 500, height: 375)))))
        #expect(header.orientation == 1)
        #expect(sides(header) == [500, 375])
    }

    @Test(
        "Rejects bytes that cannot begin an image",
        arguments: [
            Array("<html>".utf8), Array("%PDF".utf8), [0], Array("GIF88a".utf8), [0x89, 0x50, 0x4E, 0x48],
            Array("RIFF1234WAVEfmt ".utf8), Array("RIFF1234WEBPVP9 ".utf8), Array("BM".utf8),
            // Sides of 0, or larger than the format allows.
            Fixtures.png(width: 0, height: 1), Fixtures.png(width: 1, height: 0),
            Fixtures.png(width: 0x8000_0000, height: 1), Fixtures.gif(width: 0, height: 1),
            Fixtures.gif(width: 1, height: 0), Fixtures.lossy(width: 0, height: 1),
            Fixtures.lossy(width: 1, height: 0x4000), Fixtures.jpeg(Fixtures.frame(width: 0, height: 1)),
            Fixtures.jpeg(Fixtures.frame(width: 1, height: 0)), Fixtures.extended(width: 1 << 24, height: 1 << 24),
            // Wrong order, impossible lengths, other versions.
            Fixtures.png(width: 1, height: 1, Fixtures.chunk("IEND")),
            Fixtures.png(width: 1, height: 1, [0xFF, 0xFF, 0xFF, 0xFF] + Array("iCCP".utf8)),
            Array(Fixtures.png(width: 1, height: 1).prefix(8)) + Fixtures.chunk("IDAT", Array(repeating: 0, count: 13)),
            Fixtures.jpeg(Fixtures.segment(0xDA, [0]), Fixtures.frame(width: 1, height: 1)),
            Fixtures.jpeg([0xFF, 0xD9], Fixtures.frame(width: 1, height: 1)),
            Fixtures.jpeg([0xFF, 0xD8], Fixtures.frame(width: 1, height: 1)),
            Fixtures.jpeg([0xFF, 0xE0, 0, 1], Fixtures.frame(width: 1, height: 1)),
            Fixtures.jpeg(Fixtures.segment(0xC0, [8, 0, 1, 0, 1])),
            Fixtures.lossy(width: 1, height: 1, tag: 0x11), Fixtures.lossless(width: 1, height: 1, version: 1),
            Fixtures.webp("VP8L", [0x2E, 0, 0, 0, 0]), Fixtures.webp("VP8 ", Array(repeating: 0, count: 10)),
        ] as [[UInt8]])
    func unknown(bytes: [UInt8]) {
        #expect(ImageHeader.reading(Data(bytes)) == .unknown)
        #expect(ImageHeader(Data(bytes)) == nil)
    }
}
