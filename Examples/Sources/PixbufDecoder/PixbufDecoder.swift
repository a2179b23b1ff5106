public import CacheImages
public import CacheLoader
internal import CGdkPixbuf
public import Foundation

/// Decodes JPEG, PNG and GIF with gdk-pixbuf, and WebP if its loader is installed. Decodes only the first frame of an
/// animation.
///
/// Applies the EXIF orientation unless the variant says otherwise, then crops and draws the image for the variant.
/// Decodes a JPEG for a much smaller output at a half, a quarter or an eighth of its size, which saves time and memory.
/// Ignores the color space of the variant, because gdk-pixbuf converts no colors.
///
/// Rejects the other formats of gdk-pixbuf, because `ImageHeader` cannot read their size before decoding.
public struct PixbufDecoder: ImageDecoder {
    /// The most pixels that an image may have, before and after resizing.
    public let maxPixels: Int

    /// Creates a decoder.
    public init(maxPixels: Int = 1 << 26) {
        self.maxPixels = maxPixels
    }

    /// `gdk-pixbuf@1` with the version of the library, because other versions may interpolate differently.
    public var id: ProcessorID { ProcessorID("gdk-pixbuf", parameters: ["library": GDK_PIXBUF_VERSION]) }

    /// Returns the image. Runs on the calling thread.
    ///
    /// - Throws: `ImageError`; `ImageError.malformed(reason:)` also for a truncated image.
    public func decode(_ data: Data, _ variant: ImageVariant) throws -> PixbufImage {
        guard let header = ImageHeader(data) else { throw ImageError.unknownFormat }
        let plan = try plan(header, variant)
        guard header.format.hasEnd(in: data) else { throw ImageError.malformed(reason: "its end is missing") }
        let loader = try PixbufLoader(header, plan)
        try loader.write(data)
        try loader.close()
        guard let image = try loader.image() else { throw ImageError(nil) }
        return try drawn(image, plan, variant)
    }

    /// Returns the decoding plan of an image. Throws for an image that must not be decoded.
    func plan(_ header: ImageHeader, _ variant: ImageVariant) throws -> ImagePlan {
        let size = header.size(in: variant.orientation)
        let placement = try variant.placement(of: size)
        try check(size)
        try check(placement.output)
        let shrink = header.format == .jpeg && variant.interpolation != .none ? placement.shrink : 1
        return ImagePlan(size: size, orientation: variant.orientation, placement: placement, shrink: shrink)
    }

    /// Draws the image, in its orientation and perhaps decoded at a smaller size.
    func drawn(_ image: PixbufImage, _ plan: ImagePlan, _ variant: ImageVariant) throws -> PixbufImage {
        guard plan.isDrawn else { return image }
        guard let drawn = image.drawn(plan.placement, of: plan.size, variant.interpolation) else {
            throw ImageError.malformed(reason: "there is no memory to draw it")
        }
        return drawn
    }

    private func check(_ size: ImageSize) throws {
        guard size.width * size.height > Double(maxPixels) else { return }
        throw ImageError.tooLarge(width: Int(size.width), height: Int(size.height), maxPixels: maxPixels)
    }
}

/// The way to decode and draw an image.
struct ImagePlan {
    /// The size of the whole image in its orientation.
    let size: ImageSize
    let orientation: ImageVariant.Orientation
    let placement: ImagePlacement
    /// The divisor of both sides while decoding.
    let shrink: Int

    /// Whether the decoded image still differs from the output.
    var isDrawn: Bool {
        placement.source != ImageRect(size) || placement.destination != ImageRect(size) || placement.output != size
    }
}

extension ImagePlacement {
    /// The factor by which the decoder may shrink the image before drawing: 8, 4, 2 or 1.
    ///
    /// Keeps twice the drawn pixels along each side for the filter, because libjpeg only averages blocks, which looks
    /// coarse. libvips does the same (`vips_thumbnail`).
    fileprivate var shrink: Int {
        let factor = min(source.width / destination.width, source.height / destination.height) / 2
        return [8, 4, 2].first { Double($0) <= factor } ?? 1
    }
}

extension ImageError {
    static let unknownFormat = ImageError.malformed(reason: "it is not of a format that is known here")

    /// Creates an error with the message of gdk-pixbuf.
    init(_ error: UnsafeMutablePointer<GError>?) {
        let message = error.map { String(cString: $0.pointee.message) }
        self = .malformed(reason: message ?? "gdk-pixbuf made nothing of it")
    }
}
