/// The part of an image that a decoder draws, and its position in the output.
///
/// All values are whole pixels.
public struct ImagePlacement: Hashable, Sendable {
    /// The drawn part of the image; never empty, never outside the image.
    public let source: ImageRect
    /// The position and size of the drawn part in the output; never empty, never outside the output.
    public let destination: ImageRect
    /// The size of the output. Pixels outside the destination stay transparent.
    public let output: ImageSize
}
