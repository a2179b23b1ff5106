internal import CacheImages
public import CacheLoader
internal import CGdkPixbuf
public import Foundation

/// An image in memory: eight bits each for red, green, blue and, if present, alpha.
///
/// `@unchecked`: the pixels do not change after the creation of the image, and GObject counts references atomically.
public final class PixbufImage: @unchecked Sendable {
    /// The file format of an encoded image.
    public enum Encoding: Hashable, Sendable {
        /// Transparent pixels become white. The quality is from 0 to 100.
        case jpeg(quality: Int = 85)
        /// Lossless.
        case png
    }

    /// The color of a pixel.
    public struct Pixel: Hashable, Sendable {
        /// From 0, black, to 255.
        public var red, green, blue: UInt8
        /// From 0, transparent, to 255.
        public var alpha: UInt8 = 255
    }

    private let pixbuf: OpaquePointer

    /// Takes ownership of one reference. Returns `nil` for `NULL`.
    init?(_ pixbuf: OpaquePointer?) {
        guard let pixbuf else { return nil }
        self.pixbuf = pixbuf
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(pixbuf))
    }

    /// The width in pixels.
    public var width: Int { Int(gdk_pixbuf_get_width(pixbuf)) }

    /// The height in pixels.
    public var height: Int { Int(gdk_pixbuf_get_height(pixbuf)) }

    /// Whether pixels may be transparent.
    public var hasAlpha: Bool { gdk_pixbuf_get_has_alpha(pixbuf) != 0 }

    /// The pixel at this column and row from the top left. Both must be inside the image.
    public subscript(x: Int, y: Int) -> Pixel {
        precondition(x >= 0 && x < width && y >= 0 && y < height, "a pixel outside the image")
        let start = y * Int(gdk_pixbuf_get_rowstride(pixbuf)) + x * Int(gdk_pixbuf_get_n_channels(pixbuf))
        // gdk_pixbuf_get_pixels would not do: it may copy the pixels to make them writable.
        guard let pixel = gdk_pixbuf_read_pixels(pixbuf)?.advanced(by: start) else { preconditionFailure("no pixels") }
        return Pixel(red: pixel[0], green: pixel[1], blue: pixel[2], alpha: hasAlpha ? pixel[3] : 255)
    }

    /// Returns a copy of the pixels, or `nil` when memory is short.
    func copied() -> PixbufImage? { PixbufImage(gdk_pixbuf_copy(pixbuf)) }

    // MARK: Drawing and encoding

    /// Draws a placement of an image of `size`. This image is the whole image, perhaps at a smaller size. Returns `nil`
    /// when memory is short.
    func drawn(
        _ placement: ImagePlacement, of size: ImageSize, _ interpolation: ImageVariant.Interpolation
    ) -> PixbufImage? {
        let (source, destination, output) = (placement.source, placement.destination, placement.output)
        let (across, down) = (Double(width) / size.width, Double(height) / size.height)
        let (left, top) = (source.x * across, source.y * down)
        let (right, bottom) = ((source.x + source.width) * across, (source.y + source.height) * down)
        // Crops first, in whole pixels, so that interpolation uses no pixels outside the crop.
        let (x, y) = (left.rounded(.down), top.rounded(.down))
        guard
            let part = PixbufImage(
                gdk_pixbuf_new_subpixbuf(
                    pixbuf, Int32(x), Int32(y), Int32(min(right.rounded(.up), Double(width)) - x),
                    Int32(min(bottom.rounded(.up), Double(height)) - y))),
            let canvas = gdk_pixbuf_new(
                GDK_COLORSPACE_RGB, hasAlpha || destination != ImageRect(output) ? 1 : 0, 8, Int32(output.width),
                Int32(output.height))
        else { return nil }
        gdk_pixbuf_fill(canvas, 0)
        let scaleX = destination.width / (right - left)
        let scaleY = destination.height / (bottom - top)
        gdk_pixbuf_scale(
            part.pixbuf, canvas, Int32(destination.x), Int32(destination.y), Int32(destination.width),
            Int32(destination.height), destination.x - (left - x) * scaleX, destination.y - (top - y) * scaleY, scaleX,
            scaleY, scaleX == 1 && scaleY == 1 ? GDK_INTERP_NEAREST : GdkInterpType(interpolation))
        return PixbufImage(canvas)
    }

    /// Returns the encoded image.
    ///
    /// - Throws: `ImageError.malformed(reason:)` with the message of gdk-pixbuf.
    public func encoded(as encoding: Encoding) throws -> Data {
        switch encoding {
        case .png: return try saved("png", [:])
        case .jpeg(let quality):
            let white: guint32 = 0xFF_FF_FF
            let opaque = gdk_pixbuf_composite_color_simple(
                pixbuf, Int32(width), Int32(height), GDK_INTERP_NEAREST, 255, 16, white, white)
            guard let opaque = PixbufImage(opaque) else {
                throw ImageError.malformed(reason: "there is no memory to write it")
            }
            return try opaque.saved("jpeg", ["quality": "\(min(max(0, quality), 100))"])
        }
    }

    private func saved(_ type: String, _ options: [String: String]) throws -> Data {
        // Both lists end with NULL.
        var keys = options.keys.map { g_strdup($0) } + [nil]
        var values = options.values.map { g_strdup($0) } + [nil]
        defer { for text in keys + values { g_free(text) } }
        var buffer: UnsafeMutablePointer<gchar>?
        var count: gsize = 0
        var error: UnsafeMutablePointer<GError>?
        defer {
            g_free(buffer)
            g_clear_error(&error)
        }
        guard gdk_pixbuf_save_to_bufferv(pixbuf, &buffer, &count, type, &keys, &values, &error) != 0, let buffer else {
            throw ImageError(error)
        }
        return Data(bytes: buffer, count: Int(count))
    }
}

extension PixbufImage: MemoryCosting {
    /// The number of bytes of the pixels.
    public var memoryCost: Int { Int(gdk_pixbuf_get_byte_length(pixbuf)) }
}

extension GdkInterpType {
    fileprivate init(_ interpolation: ImageVariant.Interpolation) {
        self =
            switch interpolation {
            case .none: GDK_INTERP_NEAREST
            case .low: GDK_INTERP_TILES
            // gdk-pixbuf has nothing better: since 2.38 "hyper" is also bilinear. Both average areas for a smaller
            // output.
            default: GDK_INTERP_BILINEAR
            }
    }
}
