internal import CacheImages
internal import CGdkPixbuf
internal import Foundation

/// gdk-pixbuf's loader of one image. For one task at a time.
final class PixbufLoader {
    private let loader: UnsafeMutablePointer<GdkPixbufLoader>
    private let orientation: ImageVariant.Orientation
    /// The decoded size of the image, in its orientation.
    private let width: Int
    private let height: Int
    private var isOpen = true

    /// Only the JPEG loader shrinks while it decodes.
    init(_ header: ImageHeader, _ plan: ImagePlan) throws {
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        guard let loader = gdk_pixbuf_loader_new_with_type(header.format.loaderName, &error) else {
            throw ImageError(error)
        }
        self.loader = loader
        orientation = plan.orientation
        width = (Int(plan.size.width) + plan.shrink - 1) / plan.shrink
        height = (Int(plan.size.height) + plan.shrink - 1) / plan.shrink
        if plan.shrink > 1 {
            let isTurned = header.orientation >= 5 && orientation == .upright
            gdk_pixbuf_loader_set_size(loader, Int32(isTurned ? height : width), Int32(isTurned ? width : height))
        }
        // gdk-pixbuf does not clear new pixels.
        let clear: @convention(c) (gpointer?, gpointer?) -> Void = { loader, _ in
            guard let loader = loader?.assumingMemoryBound(to: GdkPixbufLoader.self),
                let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader)
            else { return }
            gdk_pixbuf_fill(pixbuf, 0)
        }
        g_signal_connect_data(
            loader, "area-prepared", unsafeBitCast(clear, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
    }

    deinit {
        // gdk-pixbuf warns when an open loader is released.
        if isOpen { gdk_pixbuf_loader_close(loader, nil) }
        g_object_unref(loader)
    }

    /// Decodes the next bytes.
    func write(_ data: Data) throws {
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        let isWritten = data.withUnsafeBytes { bytes in
            gdk_pixbuf_loader_write(loader, bytes.baseAddress, gsize(bytes.count), &error) != 0
        }
        guard isWritten else { throw ImageError(error) }
    }

    /// Decodes the rest.
    func close() throws {
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        isOpen = false
        guard gdk_pixbuf_loader_close(loader, &error) != 0 else { throw ImageError(error) }
    }

    /// The image with the pixels so far, or `nil` before the first pixels. Later bytes may change its pixels.
    func image() throws -> PixbufImage? {
        guard let pixbuf = gdk_pixbuf_loader_get_pixbuf(loader) else { return nil }
        let oriented =
            switch orientation {
            case .stored: OpaquePointer(g_object_ref(UnsafeMutableRawPointer(pixbuf)))
            default: gdk_pixbuf_apply_embedded_orientation(pixbuf)
            }
        guard let image = PixbufImage(oriented), image.width == width, image.height == height
        else { throw ImageError.malformed(reason: "it is not of the size that its header says") }
        return image
    }
}

extension ImageHeader.Format {
    fileprivate var loaderName: String { self == .apng ? "png" : rawValue }
}
