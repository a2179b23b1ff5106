internal import CacheImages
internal import Foundation

extension ImageHeader.Format {
    /// Whether the image is complete. Reads every byte at most once.
    ///
    /// gdk-pixbuf (2.42) accepts a truncated JPEG or PNG, and fills the missing part with gray or transparent pixels.
    /// The loaders of the other formats check the end themselves.
    func hasEnd(in data: Data) -> Bool {
        switch self {
        case .jpeg: data.withUnsafeBytes(Self.jpegHasEnd)
        case .png, .apng: data.withUnsafeBytes(Self.pngHasEnd)
        default: true
        }
    }

    /// ITU-T T.81 §B.1.1: the marker EOI outside all segments ends the image. In the pixel data, 00 follows an FF that
    /// begins no marker. Ignores bytes after the end, where cameras store a second image.
    private static func jpegHasEnd(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 2
        while position + 1 < bytes.count {
            guard bytes[position] == 0xFF else {
                position += 1
                continue
            }
            switch bytes[position + 1] {
            case 0xD9: return true
            case 0xFF: position += 1
            case 0x00, 0x01, 0xD0...0xD8: position += 2
            default:
                guard position + 3 < bytes.count else { return false }
                position += 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
            }
        }
        return false
    }

    /// PNG, third edition, §5.3: a chunk has length, name, content and checksum; `IEND` is the last chunk.
    private static func pngHasEnd(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 8
        while position + 12 <= bytes.count {
            if bytes[position + 4..<position + 8].elementsEqual("IEND".utf8) { return true }
            position += 12 + bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return false
    }
}
