public import CacheImages
public import CacheLoader
internal import CGdkPixbuf
public import Foundation

/// Decodes JPEG, PNG and GIF with gdk-pixbuf, and WebP if its loader is installed; of an animation only the first
/// frame.
///
/// Applies the EXIF orientation, then crops and draws the image by its variant. Decodes a JPEG for a much smaller
/// output at a half, a quarter or an eighth of its size, which saves time and memory.
///
/// Rejects the other formats of gdk-pixbuf, because `ImageHeader` cannot read their size before decoding.
public struct PixbufDecoder: ImageDecoder {
    /// The most pixels that an image may have, before and after resizing.
    public let maxPixels: Int

    /// Creates a decoder.
    public init(maxPixels: Int = 1 << 26) {
        self.maxPixels = maxPixels
    }

    /// `gdk-pixbuf@1`, with the version of the library: other versions may interpolate differently.
    public var id: ProcessorID { ProcessorID("gdk-pixbuf", parameters: ["library": GDK_PIXBUF_VERSION]) }

    /// Returns the image. Runs on the calling thread.
    ///
    /// - Throws: `ImageGeometryError`, `ImageError.malformed(reason:)`, also for a truncated image, and
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

    /// Returns the whole image, upright, with its sides divided by `shrink`. Only the JPEG loader shrinks while it
    /// decodes.
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
        // Close the loader in any case. If both calls fail, report the first error.
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
    /// The factor by which the decoder may shrink the image before it is drawn: 8, 4, 2 or 1.
    ///
    /// Keeps twice the drawn pixels along each side for the filter: libjpeg only averages blocks, which looks coarse.
    /// libvips does the same (`vips_thumbnail`).
    fileprivate var shrink: Int {
        let factor = min(source.width / destination.width, source.height / destination.height) / 2
        return [8, 4, 2].first { Double($0) <= factor } ?? 1
    }
}

extension ImageHeader.Format {
    fileprivate var loaderName: String { self == .apng ? "png" : rawValue }
}

extension ImageError {
    /// Creates an error with the message of gdk-pixbuf.
    init(_ error: UnsafeMutablePointer<GError>?) {
        let message = error.map { String(cString: $0.pointee.message) }
        self = .malformed(reason: message ?? "gdk-pixbuf made nothing of it")
    }
}
