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

/// Chooses the decoding size of an image, and the pixels to draw from it.
extension ImagePlacement {
    /// The longest side of the smallest decoded image with enough pixels for the output. `size` is the size of the
    /// whole image, for which the placement was computed.
    package func decodedSide(of size: ImageSize) -> Int {
        let longest = max(size.width, size.height)
        let factor = max(destination.width / source.width, destination.height / source.height)
        return Int(factor < 1 ? max(1, (longest * factor).rounded(.up)) : longest)
    }

    /// Returns the part to crop from an image decoded at another size, in whole pixels, and the output area of this
    /// part. The area may exceed ``destination``, which clips it. Draw only this part: interpolation then mixes in at
    /// most one pixel outside ``source``.
    package func part(in decoded: ImageSize, of size: ImageSize) -> (crop: ImageRect, area: ImageRect) {
        let (across, down) = (decoded.width / size.width, decoded.height / size.height)
        let (left, top) = (source.x * across, source.y * down)
        let (width, height) = (source.width * across, source.height * down)
        let (x, y) = (left.rounded(.down), top.rounded(.down))
        let crop = ImageRect(
            x: x, y: y, width: max(1, min((left + width).rounded(.up), decoded.width) - x),
            height: max(1, min((top + height).rounded(.up), decoded.height) - y))
        let (scaleX, scaleY) = (destination.width / width, destination.height / height)
        let area = ImageRect(
            x: destination.x - (left - x) * scaleX, y: destination.y - (top - y) * scaleY, width: crop.width * scaleX,
            height: crop.height * scaleY)
        return (crop, area)
    }
}
