public import CacheFoundation

/// The format and the size of an image, read from its first bytes.
///
/// The header often arrives long before the rest of the image, and needs no decoding. It does not prove that the rest
/// is valid.
public struct ImageHeader: Hashable, Sendable {
    /// The file format of an image.
    @nonexhaustive
    public enum Format: String, Sendable, CaseIterable {
        /// A PNG without animation.
        case png
        /// An animated PNG.
        case apng
        /// JPEG, of any process.
        case jpeg
        /// GIF, animated or not.
        case gif
        /// WebP, animated or not.
        case webp
    }

    /// The result of reading the first bytes of an image.
    public enum Reading: Hashable, Sendable {
        /// The header is complete; more bytes do not change it.
        case header(ImageHeader)
        /// More bytes may complete the header.
        case incomplete
        /// The bytes begin no supported image format. More bytes do not change this.
        case unknown
    }

    /// The format.
    public let format: Format
    /// The width in pixels of the displayed image, at least 1.
    public let width: Int
    /// The height in pixels of the displayed image, at least 1.
    public let height: Int

    /// The EXIF orientation of the stored pixels: 1 for upright, 5 to 8 with swapped sides.
    ///
    /// ``width`` and ``height`` already respect the orientation. Read from JPEG only; 1 for every other format.
    public let orientation: Int

    /// Reads the header from the first bytes of an image, or returns `nil`.
    public init?(_ data: Data) {
        guard case .header(let header) = Self.reading(data) else { return nil }
        self = header
    }

    /// Reads the header of an image from its first bytes.
    ///
    /// Reads only the bytes before the first pixels, in time proportional to their number.
    public static func reading(_ data: Data) -> Reading {
        data.withUnsafeBytes { bytes in
            let bytes = ImageBytes(bytes)
            for (signature, read) in Self.formats {
                switch bytes.match(signature) {
                case .full: return read(bytes)
                case .partial: return .incomplete
                case .none: continue
                }
            }
            return .unknown
        }
    }

    /// No signature is a prefix of another, so a partial match with any of them means `incomplete`.
    private static let formats: [(signature: [UInt8], read: @Sendable (ImageBytes) -> Reading)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], png),
        ([0xFF, 0xD8, 0xFF], jpeg),
        (Array("GIF87a".utf8), gif),
        (Array("GIF89a".utf8), gif),
        (Array("RIFF".utf8), webp),
    ]

    /// Returns a header, or `unknown` for impossible sides.
    static func found(_ format: Format, _ width: Int64, _ height: Int64, orientation: Int64 = 1) -> Reading {
        // On a system with 32-bit `Int`, a side may not fit.
        guard width > 0, height > 0, let width = Int(exactly: width), let height = Int(exactly: height) else {
            return .unknown
        }
        let swapsSides = orientation >= 5
        return .header(
            ImageHeader(
                format: format, width: swapsSides ? height : width, height: swapsSides ? width : height,
                orientation: Int(orientation)))
    }

    private init(format: Format, width: Int, height: Int, orientation: Int) {
        self.format = format
        self.width = width
        self.height = height
        self.orientation = orientation
    }
}
