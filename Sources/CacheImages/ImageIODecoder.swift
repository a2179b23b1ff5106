#if canImport(ImageIO)
public import CacheLoader
public import CoreGraphics
public import Foundation
internal import ImageIO

/// An image in memory.
///
/// `@unchecked`: a `CGImage` is immutable, and Core Foundation counts its references atomically.
public struct DecodedImage: @unchecked Sendable {
    /// The pixels, upright: the decoder has applied the EXIF orientation.
    public let cgImage: CGImage
}

/// Decodes the formats of ImageIO; of an animation only the first frame. Needs no main thread.
///
/// Applies the EXIF orientation, then crops and draws the image by its variant.
public struct ImageIODecoder: ImageDecoder {
    /// The most pixels that an image may have, before and after resizing.
    public let maxPixels: Int

    /// Creates a decoder.
    public init(maxPixels: Int = 1 << 26) {
        self.maxPixels = maxPixels
    }

    /// `imageio@1`.
    public var id: ProcessorID { ProcessorID("imageio") }

    /// Returns the image.
    ///
    /// - Throws: ``ImageGeometryError``, ``ImageError/malformed(reason:)``,
    ///   ``ImageError/tooLarge(width:height:maxPixels:)``.
    public func decode(_ data: Data, _ variant: ImageVariant) throws -> DecodedImage {
        let options = [kCGImageSourceShouldCache: false] as CFDictionary
        guard let source = CGImageSourceCreateWithData(data as CFData, options),
            let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, options) as? [CFString: Any],
            let width = properties[kCGImagePropertyPixelWidth] as? Int,
            let height = properties[kCGImagePropertyPixelHeight] as? Int
        else { throw ImageError.malformed(reason: "ImageIO does not know the format") }
        let orientation = properties[kCGImagePropertyOrientation] as? Int ?? 1
        let isTurned = (5...8).contains(orientation)
        let size = ImageSize(width: Double(isTurned ? height : width), height: Double(isTurned ? width : height))
        try check(size, for: variant)

        let image = try upright(source, isUpright: orientation == 1, longestSide: max(width, height))
        let placement = try variant.placement(
            of: ImageSize(width: Double(image.width), height: Double(image.height)))
        return DecodedImage(cgImage: try draw(image, placement, variant.interpolation))
    }

    private func upright(_ source: CGImageSource, isUpright: Bool, longestSide: Int) throws -> CGImage {
        // ImageIO applies the orientation only to thumbnails, so a turned image is a thumbnail of full size.
        let image =
            if isUpright {
                CGImageSourceCreateImageAtIndex(
                    source, 0, [kCGImageSourceShouldCacheImmediately: true] as CFDictionary)
            } else {
                CGImageSourceCreateThumbnailAtIndex(
                    source, 0,
                    [
                        kCGImageSourceCreateThumbnailFromImageAlways: true,
                        kCGImageSourceCreateThumbnailWithTransform: true,
                        kCGImageSourceThumbnailMaxPixelSize: longestSide,
                    ] as CFDictionary)
            }
        guard let image else { throw ImageError.malformed(reason: "ImageIO could not decode it") }
        return image
    }

    private func draw(
        _ image: CGImage, _ placement: ImagePlacement, _ interpolation: ImageVariant.Interpolation
    ) throws -> CGImage {
        guard let part = image.cropping(to: CGRect(placement.source)) else {
            throw ImageError.malformed(reason: "Core Graphics could not crop it")
        }
        let (destination, output) = (placement.destination, placement.output)
        if destination == ImageRect(output), output == placement.source.size { return part }
        let context = Self.context(output, image.colorSpace) ?? Self.context(output, CGColorSpaceCreateDeviceRGB())
        context?.interpolationQuality = CGInterpolationQuality(interpolation)
        // The y axis of Core Graphics points upwards.
        var area = CGRect(destination)
        area.origin.y = output.height - destination.y - destination.height
        context?.draw(part, in: area)
        guard let drawn = context?.makeImage() else {
            throw ImageError.malformed(reason: "Core Graphics could not draw it")
        }
        return drawn
    }
}

extension ImageIODecoder {
    /// Returns `nil` for a color space without a drawing context, such as a palette, grays or more than eight bits.
    private static func context(_ size: ImageSize, _ space: CGColorSpace?) -> CGContext? {
        guard let space, space.model == .rgb, space.supportsOutput else { return nil }
        return CGContext(
            data: nil, width: Int(size.width), height: Int(size.height), bitsPerComponent: 8, bytesPerRow: 0,
            space: space, bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
    }
}

extension CGRect {
    fileprivate init(_ rect: ImageRect) {
        self.init(x: rect.x, y: rect.y, width: rect.width, height: rect.height)
    }
}

extension CGInterpolationQuality {
    fileprivate init(_ interpolation: ImageVariant.Interpolation) {
        self =
            switch interpolation {
            case .none: .none
            case .low: .low
            case .medium: .medium
            case .high: .high
            }
    }
}

extension Processor where Self == ImageProcessor<ImageIODecoder> {
    /// A processor that decodes one variant of the image with ImageIO.
    public static func image(_ variant: ImageVariant = .original) -> ImageProcessor<ImageIODecoder> {
        ImageProcessor(ImageIODecoder(), variant)
    }
}
#endif
