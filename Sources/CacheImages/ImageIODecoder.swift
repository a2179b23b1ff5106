#if canImport(ImageIO)
public import CacheLoader
public import CoreGraphics
public import Foundation
internal import ImageIO

/// An image in memory.
///
/// `@unchecked`: a `CGImage` is immutable, and Core Foundation counts its references atomically.
public struct DecodedImage: @unchecked Sendable {
    /// The pixels, in the orientation and the color space of the variant.
    public let cgImage: CGImage
}

/// Decodes the formats of ImageIO, and only the first frame of an animation. Needs no main thread.
///
/// Applies the EXIF orientation unless the variant says otherwise, then crops and draws the image in the variant's
/// color space. Decodes at a smaller size for a smaller output, which saves time and memory.
public struct ImageIODecoder: ImageDecoder {
    /// The most pixels that an image may have, before and after resizing.
    public let maxPixels: Int

    /// Creates a decoder.
    public init(maxPixels: Int = 1 << 26) {
        self.maxPixels = maxPixels
    }

    /// `imageio@2`.
    public var id: ProcessorID { ProcessorID("imageio", version: 2) }

    /// Returns the image.
    ///
    /// - Throws: ``ImageError``.
    public func decode(_ data: Data, _ variant: ImageVariant) throws -> DecodedImage {
        guard let source = CGImageSourceCreateWithData(data as CFData, Self.options) else {
            throw ImageError.malformed(reason: "ImageIO does not know the format")
        }
        return try image(of: source, variant)
    }

    private static var options: CFDictionary { [kCGImageSourceShouldCache: false] as CFDictionary }

    /// Returns the image of a source, complete or partial.
    fileprivate func image(of source: CGImageSource, _ variant: ImageVariant) throws -> DecodedImage {
        guard let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, Self.options) as? [CFString: Any],
            let width = properties[kCGImagePropertyPixelWidth] as? Int,
            let height = properties[kCGImagePropertyPixelHeight] as? Int
        else { throw ImageError.malformed(reason: "ImageIO does not know the format") }
        let isUpright = variant.orientation == .upright
        let orientation = isUpright ? properties[kCGImagePropertyOrientation] as? Int ?? 1 : 1
        let isTurned = (5...8).contains(orientation)
        let size = ImageSize(width: Double(isTurned ? height : width), height: Double(isTurned ? width : height))
        try check(size, for: variant)

        let placement = try variant.placement(of: size)
        // Nearest-pixel interpolation needs the pixels of the full-size image.
        let side = variant.interpolation == .none ? max(width, height) : placement.decodedSide(of: size)
        let isWhole = orientation == 1 && side == max(width, height)
        let image = try decoded(source, isWhole: isWhole, longestSide: side, isUpright: isUpright)
        return DecodedImage(cgImage: try draw(image, placement, of: size, variant))
    }

    /// Returns the image in its orientation. Unless `isWhole`, decodes it at a smaller size with this longest side.
    private func decoded(
        _ source: CGImageSource, isWhole: Bool, longestSide: Int, isUpright: Bool
    ) throws -> CGImage {
        // ImageIO turns and shrinks only thumbnails.
        let image =
            if isWhole {
                CGImageSourceCreateImageAtIndex(
                    source, 0, [kCGImageSourceShouldCacheImmediately: true] as CFDictionary)
            } else {
                CGImageSourceCreateThumbnailAtIndex(
                    source, 0,
                    [
                        kCGImageSourceCreateThumbnailFromImageAlways: true,
                        kCGImageSourceCreateThumbnailWithTransform: isUpright,
                        kCGImageSourceShouldCacheImmediately: true,
                        kCGImageSourceThumbnailMaxPixelSize: longestSide,
                    ] as CFDictionary)
            }
        guard let image else { throw ImageError.malformed(reason: "ImageIO could not decode it") }
        return image
    }

    /// Draws a placement of an image of `size`. `image` is the whole image, perhaps at a smaller size.
    private func draw(
        _ image: CGImage, _ placement: ImagePlacement, of size: ImageSize, _ variant: ImageVariant
    ) throws -> CGImage {
        let decoded = ImageSize(width: Double(image.width), height: Double(image.height))
        let (crop, area) = placement.part(in: decoded, of: size)
        guard let part = image.cropping(to: CGRect(crop)) else {
            throw ImageError.malformed(reason: "Core Graphics could not crop it")
        }
        let output = placement.output
        let wanted = variant.colorSpace.name
        if area == ImageRect(output), output == crop.size, wanted == nil || wanted == image.colorSpace?.name {
            return part
        }
        // Drawing converts the colors to those of the context.
        let space = wanted.flatMap { CGColorSpace(name: $0) } ?? image.colorSpace
        let context = Self.context(output, space) ?? Self.context(output, CGColorSpaceCreateDeviceRGB())
        context?.interpolationQuality = CGInterpolationQuality(variant.interpolation)
        context?.clip(to: CGRect(placement.destination, in: output))
        context?.draw(part, in: CGRect(area, in: output))
        guard let drawn = context?.makeImage() else {
            throw ImageError.malformed(reason: "Core Graphics could not draw it")
        }
        return drawn
    }
}

extension ImageIODecoder: ProgressiveImageDecoder {
    /// Begins to decode an image as its bytes arrive.
    ///
    /// The session keeps all bytes, because ImageIO expects all of them in each update. It throws ``ImageError``;
    /// ``ImageError/malformed(reason:)`` also at the end of a truncated image.
    public func makeSession(_ variant: ImageVariant) -> some ImageDecodingSession<DecodedImage> {
        ImageIOSession(self, variant)
    }
}

private struct ImageIOSession: ImageDecodingSession {
    private let decoder: ImageIODecoder
    private let variant: ImageVariant
    private let source = CGImageSourceCreateIncremental(nil)
    private var data = Data()

    init(_ decoder: ImageIODecoder, _ variant: ImageVariant) {
        self.decoder = decoder
        self.variant = variant
    }

    mutating func append(_ bytes: Data) {
        data.append(bytes)
    }

    func partialImage() throws -> DecodedImage? {
        CGImageSourceUpdateData(source, data as CFData, false)
        guard [.statusIncomplete, .statusComplete].contains(CGImageSourceGetStatusAtIndex(source, 0)) else {
            return nil
        }
        do {
            return try decoder.image(of: source, variant)
        } catch ImageError.malformed {
            // No pixels yet.
            return nil
        }
    }

    func finish() throws -> DecodedImage {
        CGImageSourceUpdateData(source, data as CFData, true)
        guard CGImageSourceGetStatusAtIndex(source, 0) == .statusComplete else {
            throw ImageError.malformed(reason: "its end is missing, or ImageIO does not know the format")
        }
        return try decoder.image(of: source, variant)
    }
}

extension ImageIODecoder {
    /// Returns `nil` for a color space without drawing context, such as a palette, grays or more than eight bits.
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

    /// The y axis of Core Graphics points upwards.
    fileprivate init(_ rect: ImageRect, in output: ImageSize) {
        self.init(x: rect.x, y: output.height - rect.y - rect.height, width: rect.width, height: rect.height)
    }
}

extension ImageVariant.ColorSpace {
    /// The name of the space, or `nil` to keep the image's space.
    fileprivate var name: CFString? {
        switch self {
        case .image: nil
        case .sRGB: CGColorSpace.sRGB
        case .displayP3: CGColorSpace.displayP3
        }
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
