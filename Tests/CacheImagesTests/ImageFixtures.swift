/// The first bytes of images, assembled byte by byte from their specifications.
enum ImageFixtures {
    static func bigEndian(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func littleEndian(_ value: Int, _ length: Int) -> [UInt8] { bigEndian(value, length).reversed() }

    // MARK: PNG

    /// A chunk with a zero checksum: header readers do not verify it.
    static func chunk(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        bigEndian(content.count, 4) + Array(name.utf8) + content + [0, 0, 0, 0]
    }

    static func png(width: Int, height: Int, _ chunks: [UInt8] = chunk("IDAT", [0])) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", bigEndian(width, 4) + bigEndian(height, 4) + [8, 2, 0, 0, 0]) + chunks
    }

    // MARK: JPEG

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker] + bigEndian(content.count + 2, 2) + content
    }

    static func frame(_ marker: UInt8 = 0xC0, width: Int, height: Int) -> [UInt8] {
        segment(marker, [8] + bigEndian(height, 2) + bigEndian(width, 2) + [1, 1, 0x11, 0])
    }

    static func jpeg(_ segments: [UInt8]...) -> [UInt8] { [0xFF, 0xD8] + segments.joined() }

    /// An EXIF segment with another directory entry before the orientation.
    static func exif(orientation: Int, isLittleEndian: Bool = false, type: Int = 3, count: Int = 1) -> [UInt8] {
        let number = isLittleEndian ? littleEndian : bigEndian
        var tiff = Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(2, 2)
        tiff += number(0x010F, 2) + number(2, 2) + number(4, 4) + Array("cam\0".utf8)
        tiff += number(0x0112, 2) + number(type, 2) + number(count, 4) + number(orientation, 2) + [0, 0]
        return segment(0xE1, Array("Exif\0\0".utf8) + tiff + number(0, 4))
    }

    // MARK: GIF and WebP

    static func gif(_ version: String = "89a", width: Int, height: Int) -> [UInt8] {
        Array("GIF\(version)".utf8) + littleEndian(width, 2) + littleEndian(height, 2) + [0, 0, 0]
    }

    static func webp(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + littleEndian(content.count + 12, 4) + Array("WEBP\(name)".utf8)
            + littleEndian(content.count, 4) + content
    }

    static func lossy(width: Int, height: Int, tag: UInt8 = 0x10) -> [UInt8] {
        webp("VP8 ", [tag, 0, 0, 0x9D, 0x01, 0x2A] + littleEndian(width, 2) + littleEndian(height, 2))
    }

    static func lossless(width: Int, height: Int, version: Int = 0) -> [UInt8] {
        webp("VP8L", [0x2F] + littleEndian((width - 1) | (height - 1) << 14 | 1 << 28 | version << 29, 4))
    }

    static func extended(width: Int, height: Int) -> [UInt8] {
        webp("VP8X", [0x10, 0, 0, 0] + littleEndian(width - 1, 3) + littleEndian(height - 1, 3))
    }

    // MARK: From other encoders

    /// Images of 3 by 2 pixels written by Pillow 12 with libjpeg-turbo and libwebp, whole or cut, in Base64.
    static let foreign: [(name: String, base64: String)] = [
        (
            "png",
            """
            iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP8zwAFTDAGAwATKQED8NgHhAAAAABJRU5ErkJggg==
            """
        ),
        (
            "apng",
            """
            iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAACGFjVEwAAAACAAAAAPONk3AAAAAaZmNUTAAAAAAAAAADAAAAAgAA
            """
        ),
        ("gif", "R0lGODdhAwACAIEAAP8AAAAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAA7"),
        ("webp lossy", "UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoDAAIAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA="),
        ("webp lossless", "UklGRhwAAABXRUJQVlA4TA8AAAAvAkAAAAcQ/Y/+ByKi/wEA"),
        (
            "webp alpha",
            """
            UklGRl4AAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAcAAAAAZGRkZGRkAFZQOCAwAAAA0AEAnQEqAwACAAFAJiWgAnS6AfgAA7AA\
            /vLrf/zYFc1z7/f/0uD9Lg/S4P/SkAAA
            """
        ),
        (
            "webp moving",
            """
            UklGRsoAAABXRUJQVlA4WAoAAAACAAAAAgAAAQAAQU5JTQYAAAAAAAAAAABBTk1GSgAAAAAAAAAAAAIAAAEAAAAAAAJWUDggMgAA
            """
        ),
        (
            "jpeg",
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0\
            Hyc5PTgyPC4zNDL/wAALCAACAAMBAREA
            """
        ),
        (
            "jpeg progressive",
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0\
            Hyc5PTgyPC4zNDL/wgALCAACAAMBAREA
            """
        ),
        (
            "jpeg turned",
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQN\
            DAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAACAAMBAREA
            """
        ),
    ]
}
