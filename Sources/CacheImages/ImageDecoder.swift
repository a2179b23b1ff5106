public import CacheFoundation
public import CacheLoader

/// Decodes bytes to images. The program chooses the type of the image and the library.
public protocol ImageDecoder<Image>: Sendable {
    /// The type of a decoded image.
    associatedtype Image: Sendable

    /// The decoder, its version, and every other input besides bytes and variant that changes the image.
    var id: ProcessorID { get }

    /// The most pixels that an image may have, before and after resizing; 67,108,864 (8192 by 8192) by default.
    ///
    /// A few kilobytes can declare an image that fills the memory. The decoder rejects a larger declared size.
    var maxPixels: Int { get }

    /// Returns the image, cropped and resized by ``ImageVariant/placement(of:)``.
    ///
    /// Several tasks may call this method concurrently. A call may take long, because it runs on no actor.
    func decode(_ data: Data, _ variant: ImageVariant) throws -> Image
}

extension ImageDecoder {
    /// 8192 by 8192 pixels.
    public var maxPixels: Int { 1 << 26 }

    /// Checks that the image and its `variant` can be placed and have at most ``maxPixels`` pixels.
    func check(_ size: ImageSize, for variant: ImageVariant) throws(ImageError) {
        for size in [size, try variant.placement(of: size).output] where size.width * size.height > Double(maxPixels) {
            throw .tooLarge(
                width: Int(clamping: size.width), height: Int(clamping: size.height), maxPixels: maxPixels)
        }
    }
}

extension Int {
    /// Converts a whole number, or `Int.max` for a number larger than any `Int`.
    fileprivate init(clamping value: Double) {
        self = Int(exactly: value) ?? .max
    }
}

/// Decodes bytes to one variant of an image.
public struct ImageProcessor<Decoder: ImageDecoder>: SynchronousProcessor {
    private let decoder: Decoder
    private let variant: ImageVariant

    /// Creates a processor.
    public init(_ decoder: Decoder, _ variant: ImageVariant = .original) {
        self.decoder = decoder
        self.variant = variant
    }

    /// `image`, with the decoder's id and every field of the variant as parameters.
    public var id: ProcessorID {
        var parameters = variant.parameters
        parameters["decoder"] = decoder.id.description
        return ProcessorID("image", parameters: parameters)
    }

    /// Returns the image.
    ///
    /// Rejects an image with too many pixels before decoding if the bytes have a readable ``ImageHeader``.
    ///
    /// - Throws: ``ImageError``, and errors of the decoder.
    public func processSynchronously(_ input: Data, _ context: ProcessingContext) throws -> Decoder.Image {
        if let header = ImageHeader(input) {
            try decoder.check(header.size(in: variant.orientation), for: variant)
        }
        return try decoder.decode(input, variant)
    }
}

extension Processor {
    /// A processor that decodes one variant of the image with `decoder`.
    public static func image<Decoder>(
        _ decoder: Decoder, _ variant: ImageVariant = .original
    ) -> Self where Self == ImageProcessor<Decoder> {
        ImageProcessor(decoder, variant)
    }
}
