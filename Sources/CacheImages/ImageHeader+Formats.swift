// Reads numbers at fixed positions. ImageBytes checks the positions that come from the file.
extension ImageHeader {
    /// PNG, third edition (https://www.w3.org/TR/png-3/): a signature, then chunks of length, name, content and
    /// checksum. §11.3.5.1: the chunk `acTL` marks an APNG and precedes the first `IDAT`. The result requires all
    /// chunks before the first `IDAT`, so that more bytes never change it.
    @Sendable static func png(_ bytes: ImageBytes) -> Reading {
        guard let first = bytes.bigEndian(8, 4), let name = bytes.name(12),
            let width = bytes.bigEndian(16, 4), let height = bytes.bigEndian(20, 4)
        else { return .incomplete }
        // §7.1: lengths, widths and heights have 31 bits.
        guard first == 13, name == "IHDR", max(width, height) <= Int32.max else { return .unknown }
        var position: Int64 = 8 + 12 + 13
        while let length = bytes.bigEndian(position, 4), let name = bytes.name(position + 4) {
            switch name {
            case "acTL": return found(.apng, width, height)
            case "IDAT": return found(.png, width, height)
            case "IEND": return .unknown
            default:
                guard length <= Int32.max else { return .unknown }
                position += 12 + length
            }
        }
        return .incomplete
    }

    /// GIF89a §18: the logical screen descriptor follows the signature.
    @Sendable static func gif(_ bytes: ImageBytes) -> Reading {
        guard let width = bytes.littleEndian(6, 2), let height = bytes.littleEndian(8, 2) else { return .incomplete }
        return found(.gif, width, height)
    }

    /// WebP (RFC 9649 §2): a RIFF file of the form type `WEBP`; the first chunk names the variant.
    @Sendable static func webp(_ bytes: ImageBytes) -> Reading {
        guard let form = bytes.name(8), let chunk = bytes.name(12) else { return .incomplete }
        switch (form, chunk) {
        case ("WEBP", "VP8 "): return lossy(bytes, 20)
        case ("WEBP", "VP8L"): return lossless(bytes, 20)
        case ("WEBP", "VP8X"): return extended(bytes, 20)
        default: return .unknown
        }
    }

    /// RFC 6386 §9.1: a frame tag, a start code, and two sides of 14 bits. The tag of a key frame has the lowest bit 0.
    private static func lossy(_ bytes: ImageBytes, _ start: Int64) -> Reading {
        guard let tag = bytes[start], let code = bytes.bigEndian(start + 3, 3),
            let width = bytes.littleEndian(start + 6, 2), let height = bytes.littleEndian(start + 8, 2)
        else { return .incomplete }
        guard tag & 1 == 0, code == 0x9D_01_2A else { return .unknown }
        return found(.webp, width & 0x3FFF, height & 0x3FFF)
    }

    /// RFC 9649 §3.4: a signature, two sides of 14 bits minus 1, a bit for alpha, and the version 0.
    private static func lossless(_ bytes: ImageBytes, _ start: Int64) -> Reading {
        guard let signature = bytes[start], let bits = bytes.littleEndian(start + 1, 4) else { return .incomplete }
        guard signature == 0x2F, bits >> 29 == 0 else { return .unknown }
        return found(.webp, bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    }

    /// RFC 9649 §2.7.1: four bytes of flags, then the canvas sides minus 1, 24 bits each. The product has at most 32
    /// bits.
    private static func extended(_ bytes: ImageBytes, _ start: Int64) -> Reading {
        guard let width = bytes.littleEndian(start + 4, 3), let height = bytes.littleEndian(start + 7, 3) else {
            return .incomplete
        }
        guard (width + 1) * (height + 1) <= UInt32.max else { return .unknown }
        return found(.webp, width + 1, height + 1)
    }
}
