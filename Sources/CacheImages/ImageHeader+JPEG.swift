extension ImageHeader {
    /// JPEG (ITU-T T.81 §B.1.1): markers, most of them with a segment. One of thirteen frame segments has the size. An
    /// application segment before the frame has the orientation.
    @Sendable static func jpeg(_ bytes: ImageBytes) -> Reading {
        var position: Int64 = 2
        var orientation: Int64?
        while let marker = marker(in: bytes, at: &position) {
            switch marker {
            case 0x01, 0xD0...0xD7:
                // TEM and RSTm have no segment.
                continue
            case 0xD8, 0xD9, 0xDA:
                // No frame can follow a second image, the end, or pixels.
                return .unknown
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return frame(bytes, position, orientation ?? 1)
            default:
                guard let length = bytes.bigEndian(position, 2) else { return .incomplete }
                guard length >= 2 else { return .unknown }
                guard position + length <= bytes.count else { return .incomplete }
                if marker == 0xE1, orientation == nil {
                    orientation = exifOrientation(bytes, position + 2, end: position + length)
                }
                position += length
            }
        }
        return .incomplete
    }

    /// Returns the next marker and moves `position` behind it. Skips bytes between segments, as libjpeg does.
    private static func marker(in bytes: ImageBytes, at position: inout Int64) -> Int64? {
        var previous: Int64 = 0
        while let byte = bytes[position] {
            position += 1
            // §B.1.1.2: any number of FF may precede a marker; FF 00 is not a marker.
            if previous == 0xFF, byte != 0xFF, byte != 0 { return byte }
            previous = byte
        }
        return nil
    }

    /// §B.2.2: length, precision, height, width.
    private static func frame(_ bytes: ImageBytes, _ position: Int64, _ orientation: Int64) -> Reading {
        guard let length = bytes.bigEndian(position, 2), let height = bytes.bigEndian(position + 3, 2),
            let width = bytes.bigEndian(position + 5, 2)
        else { return .incomplete }
        // If the height is 0, it follows the first scan (§B.2.5, DNL). No common decoder reads DNL.
        guard length >= 8 else { return .unknown }
        return found(.jpeg, width, height, orientation: orientation)
    }

    /// Returns the orientation in the first directory of an EXIF segment: tag 0x0112, one SHORT. Exif 2.32 §4.5.4 and
    /// TIFF 6.0 §2: `Exif`, two zeros, the byte order, the number 42, the offset of the directory. The offset counts
    /// from the byte order. The directory has the number of entries and 12 bytes for each entry.
    private static func exifOrientation(_ bytes: ImageBytes, _ start: Int64, end: Int64) -> Int64? {
        let tiff = start + 6
        guard bytes.match(Array("Exif\0\0".utf8), at: start) == .full, tiff + 8 <= end else { return nil }
        let isLittleEndian: Bool
        switch bytes.bigEndian(tiff, 2) {
        case 0x4949: isLittleEndian = true
        case 0x4D4D: isLittleEndian = false
        default: return nil
        }
        func number(_ position: Int64, _ length: Int64) -> Int64? {
            guard position + length <= end else { return nil }
            return isLittleEndian ? bytes.littleEndian(position, length) : bytes.bigEndian(position, length)
        }
        guard number(tiff + 2, 2) == 42, let offset = number(tiff + 4, 4), let count = number(tiff + offset, 2) else {
            return nil
        }
        for index in 0..<count {
            let entry = tiff + offset + 2 + index * 12
            guard let tag = number(entry, 2) else { return nil }
            guard tag == 0x0112 else { continue }
            guard number(entry + 2, 2) == 3, number(entry + 4, 4) == 1, let value = number(entry + 8, 2) else {
                return nil
            }
            return (1...8).contains(value) ? value : nil
        }
        return nil
    }
}
