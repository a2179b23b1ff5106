#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What the first bytes of an image say: its format and its size.
///
/// They say it often long before the rest has come, and without decoding anything. Whether the rest is an image they do
/// not say.
public struct ImageHeader: Hashable, Sendable {
    /// How an image is written in bytes.
    @nonexhaustive
    public enum Format: String, Sendable, CaseIterable {
        /// A PNG that does not move.
        case png
        /// A PNG that moves.
        case apng
        /// JPEG, of whatever process.
        case jpeg
        /// GIF, moving or not.
        case gif
        /// WebP, moving or not.
        case webp
    }

    /// What some bytes at the front of an image say.
    public enum Reading: Hashable, Sendable {
        /// All of it; more bytes change nothing.
        case header(ImageHeader)
        /// Nothing yet; more bytes may.
        case incomplete
        /// They are the front of no image that is known here, whatever follows.
        case unknown
    }

    /// The format.
    public let format: Format
    /// The width in pixels, at least 1, of the image as it is to be shown.
    public let width: Int
    /// The height in pixels, at least 1, of the image as it is to be shown.
    public let height: Int

    /// How pixels as they are stored are to be turned, as EXIF has it: 1 not at all, 5 to 8 with the sides swapped, which
    /// they already are in ``width`` and ``height``. It is read from JPEG alone.
    public let orientation: Int

    /// The header at the front of some bytes; `nil` if they are none, or not enough.
    public init?(_ data: Data) {
        guard case .header(let header) = Self.reading(data) else { return nil }
        self = header
    }

    /// What these bytes say, from the first byte of an image on.
    ///
    /// Looks at no more than what comes before the first pixels, in time proportional to that.
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

    /// No signature is the start of another: of several that are begun any says the same.
    private static let formats: [(signature: [UInt8], read: @Sendable (ImageBytes) -> Reading)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], png),
        ([0xFF, 0xD8, 0xFF], jpeg),
        (Array("GIF87a".utf8), gif),
        (Array("GIF89a".utf8), gif),
        (Array("RIFF".utf8), webp),
    ]

    /// A header with sides that an image can have.
    static func found(_ format: Format, _ width: Int64, _ height: Int64, orientation: Int64 = 1) -> Reading {
        // No format has sides of more than 31 bits.
        guard width > 0, height > 0, let width = Int(exactly: width), let height = Int(exactly: height) else {
            return .unknown
        }
        let isTurned = orientation >= 5
        return .header(
            ImageHeader(
                format: format, width: isTurned ? height : width, height: isTurned ? width : height,
                orientation: Int(orientation)))
    }

    private init(format: Format, width: Int, height: Int, orientation: Int) {
        self.format = format
        self.width = width
        self.height = height
        self.orientation = orientation
    }
}
