#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Makes images of bytes. What an image is, and with which library it is made, is the program's choice.
public protocol ImageDecoder<Image>: Sendable {
    /// What it makes.
    associatedtype Image: Sendable

    /// Names the decoder, its version, and all that the image depends on besides bytes and variant.
    var id: ProcessorID { get }

    /// The most pixels that an image may have, before and after it is resized; 67,108,864 (8192 by 8192) by default.
    ///
    /// A few kilobytes can claim to be an image that fills the memory: what claims to be larger is not decoded.
    var maxPixels: Int { get }

    /// The image, cropped and resized as ``ImageVariant/placement(of:)`` says.
    ///
    /// May be called by several tasks at once, and takes as long as it takes: it runs on no actor.
    func decode(_ data: Data, _ variant: ImageVariant) throws -> Image
}

extension ImageDecoder {
    /// 8192 by 8192.
    public var maxPixels: Int { 1 << 26 }

    /// Throws where an image of this size, or what `variant` makes of it, has too many pixels or no place.
    ///
    /// - Throws: ``ImageGeometryError``, ``ProcessingError/imageTooLarge(width:height:maxPixels:)``.
    func check(_ size: ImageSize, for variant: ImageVariant) throws {
        for size in [size, try variant.placement(of: size).output] where size.width * size.height > Double(maxPixels) {
            throw ProcessingError.imageTooLarge(
                width: Int(clamping: size.width), height: Int(clamping: size.height), maxPixels: maxPixels)
        }
    }
}

extension Int {
    /// A whole number that may be larger than any `Int`.
    fileprivate init(clamping value: Double) {
        self = Int(exactly: value) ?? .max
    }
}

/// Bytes as one variant of the image that a decoder makes of them.
public struct ImageProcessor<Decoder: ImageDecoder>: Processor {
    private let decoder: Decoder
    private let variant: ImageVariant

    /// Creates a processor.
    public init(_ decoder: Decoder, _ variant: ImageVariant = .original) {
        self.decoder = decoder
        self.variant = variant
    }

    /// `image`, with the id of the decoder and every field of the variant.
    public var id: ProcessorID {
        var parameters = variant.parameters
        parameters["decoder"] = decoder.id.description
        return ProcessorID("image", parameters: parameters)
    }

    /// The image.
    ///
    /// Where an ``ImageHeader`` can be read, the decoder sees no image that is too large.
    ///
    /// - Throws: ``ImageGeometryError``, ``ProcessingError/imageTooLarge(width:height:maxPixels:)``, and what the decoder
    ///   throws.
    @concurrent public func process(_ input: Data, _ context: ProcessingContext) async throws -> Decoder.Image {
        if let header = ImageHeader(input) {
            try decoder.check(
                ImageSize(width: Double(header.width), height: Double(header.height)), for: variant)
        }
        return try decoder.decode(input, variant)
    }
}

extension Processor {
    /// One variant of the image that `decoder` makes of the bytes.
    public static func image<Decoder>(
        _ decoder: Decoder, _ variant: ImageVariant = .original
    ) -> Self where Self == ImageProcessor<Decoder> {
        ImageProcessor(decoder, variant)
    }
}
