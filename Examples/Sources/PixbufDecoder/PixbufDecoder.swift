public import CacheImages
public import CacheLoader
internal import CGdkPixbuf
public import Foundation

/// Decodes JPEG, PNG and GIF with gdk-pixbuf, of an animation the first picture; WebP, where a loader for it is installed.
///
/// The image is turned as its EXIF orientation says, and cropped and drawn as its variant says. A JPEG that is to become
/// much smaller is decoded at a half, a quarter or an eighth of its size, which takes that much less time and memory.
///
/// gdk-pixbuf knows more formats. They are left out, because `ImageHeader` does not tell their size before they are
/// decoded.
public struct PixbufDecoder: ImageDecoder {
    /// The most pixels that an image may have, before and after it is resized.
    public let maxPixels: Int

    /// Creates a decoder.
    public init(maxPixels: Int = 1 << 26) {
        self.maxPixels = maxPixels
    }

    /// `gdk-pixbuf@1`, with the version of the library: another may interpolate otherwise.
    public var id: ProcessorID { ProcessorID("gdk-pixbuf", parameters: ["library": GDK_PIXBUF_VERSION]) }

    /// The image. Runs on the calling thread.
    ///
    /// - Throws: `ImageGeometryError`, `ImageError.malformed(reason:)`, also where the end is missing, and
    ///   `ImageError.tooLarge(width:height:maxPixels:)`.
    public func decode(_ data: Data, _ variant: ImageVariant) throws -> PixbufImage {
        guard let header = ImageHeader(data) else {
            throw ImageError.malformed(reason: "it is not of a format that is known here")
        }
        let size = ImageSize(width: Double(header.width), height: Double(header.height))
        let placement = try variant.placement(of: size)
        try check(size)
        try check(placement.output)
        guard header.format.hasEnd(in: data) else { throw ImageError.malformed(reason: "its end is missing") }

        let shrink = header.format == .jpeg && variant.interpolation != .none ? placement.shrink : 1
        let image = try upright(data, header, shrink)
        let isDrawn = placement.source == ImageRect(size) && placement.destination == ImageRect(size)
        if isDrawn, placement.output == size { return image }
        guard let drawn = image.drawn(placement, of: size, variant.interpolation) else {
            throw ImageError.malformed(reason: "there is no memory to draw it")
        }
        return drawn
    }

    private func check(_ size: ImageSize) throws {
        guard size.width * size.height > Double(maxPixels) else { return }
        throw ImageError.tooLarge(width: Int(size.width), height: Int(size.height), maxPixels: maxPixels)
    }

    /// The whole image, upright, its sides divided by `shrink`, which only the loader of JPEG does while it decodes.
    private func upright(_ data: Data, _ header: ImageHeader, _ shrink: Int) throws -> PixbufImage {
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        guard let loader = gdk_pixbuf_loader_new_with_type(header.format.loaderName, &error) else {
            throw ImageError(error)
        }
        defer { g_object_unref(loader) }
        let width = (header.width + shrink - 1) / shrink
        let height = (header.height + shrink - 1) / shrink
        let isTurned = header.orientation >= 5
        if shrink > 1 {
            gdk_pixbuf_loader_set_size(loader, Int32(isTurned ? height : width), Int32(isTurned ? width : height))
        }
        let isWritten = data.withUnsafeBytes { bytes in
            gdk_pixbuf_loader_write(loader, bytes.baseAddress, gsize(bytes.count), &error) != 0
        }
        // To be closed in any case; of two errors the first counts.
        var closingError: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&closingError) }
        let isClosed = gdk_pixbuf_loader_close(loader, &closingError) != 0
        guard isWritten, isClosed, let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader) else {
            throw ImageError(error ?? closingError)
        }
        guard let image = PixbufImage(gdk_pixbuf_apply_embedded_orientation(pixbuf)),
            image.width == width, image.height == height
        else { throw ImageError.malformed(reason: "it is not of the size that its header says") }
        return image
    }
}

extension ImagePlacement {
    /// By how much the image may be smaller before it is drawn: 8, 4, 2 or 1.
    ///
    /// Twice as many pixels as are drawn remain, along each side, for the filter that draws them: libjpeg only takes the
    /// mean of blocks, which looks coarse. libvips does the same (`vips_thumbnail`).
    fileprivate var shrink: Int {
        let factor = min(source.width / destination.width, source.height / destination.height) / 2
        return [8, 4, 2].first { Double($0) <= factor } ?? 1
    }
}

extension ImageHeader.Format {
    fileprivate var loaderName: String { self == .apng ? "png" : rawValue }
}

extension ImageError {
    /// What gdk-pixbuf says.
    init(_ error: UnsafeMutablePointer<GError>?) {
        let message = error.map { String(cString: $0.pointee.message) }
        self = .malformed(reason: message ?? "gdk-pixbuf made nothing of it")
    }
}
