extension ImageVariant {
    /// The longest side of an area, in pixels: 16,777,216.
    public static let maxSide: Double = 0x1p24

    /// The longest image side of any format.
    private static let maxImageSide: Double = 0x1p32

    /// Returns the part of the image to draw, and its position in the output.
    ///
    /// Drops fractions of a pixel, but keeps at least one pixel. Takes constant time and reads no pixels.
    ///
    /// - Parameter image: The size of the image in pixels, in the orientation of the display.
    public func placement(of image: ImageSize) throws(ImageError) -> ImagePlacement {
        let sides = 1...Self.maxImageSide
        guard sides.contains(image.width), sides.contains(image.height) else { throw .invalidImageSize(image) }
        let part = try croppedPart(of: ImageSize(width: image.width.wholePixels, height: image.height.wholePixels))
        guard let area = try area() else {
            return ImagePlacement(source: part, destination: ImageRect(part.size), output: part.size)
        }
        var placement = placement(of: part.size, in: area)
        placement.source.x += part.x
        placement.source.y += part.y
        return ImagePlacement(
            source: placement.source, destination: placement.destination, output: placement.output ?? area)
    }

    /// Returns the area in pixels, or `nil` without resizing.
    private func area() throws(ImageError) -> ImageSize? {
        guard scale.isFinite, scale > 0 else { throw .invalidScale(scale) }
        guard let displaySize else { return nil }
        guard displaySize.isFinite, displaySize.width >= 0, displaySize.height >= 0,
            displaySize.width * scale <= Self.maxSide, displaySize.height * scale <= Self.maxSide
        else { throw .invalidDisplaySize(displaySize) }
        guard displaySize.resizes else { return nil }
        return ImageSize(
            width: max(1, (displaySize.width * scale).wholePixels),
            height: max(1, (displaySize.height * scale).wholePixels))
    }

    /// Returns the part of the image inside the crop, in pixels.
    private func croppedPart(of image: ImageSize) throws(ImageError) -> ImageRect {
        guard let crop else { return ImageRect(image) }
        guard crop.isFinite, crop.width >= 0, crop.height >= 0 else { throw .invalidCrop(crop) }
        guard crop.crops else { return ImageRect(image) }
        guard let horizontal = Span(crop.x, crop.width, of: image.width),
            let vertical = Span(crop.y, crop.height, of: image.height)
        else { throw .cropOutsideImage(crop) }
        return ImageRect(horizontal, vertical)
    }

    /// Places the image in the area. A `nil` output means the size of the area.
    private func placement(
        of image: ImageSize, in area: ImageSize
    ) -> (source: ImageRect, destination: ImageRect, output: ImageSize?) {
        let whole = ImageRect(image)
        switch mode {
        case .scaleToFill:
            return (whole, ImageRect(area), nil)
        case .aspectFit:
            let fitted = image.scaled(toFit: area)
            if excess.contains(.fitCropsExcess) { return (whole, ImageRect(fitted), fitted) }
            return (whole, ImageRect(Span(fitted.width, in: area.width), Span(fitted.height, in: area.height)), nil)
        case .aspectFill:
            if excess.contains(.fillLeavesExcess) {
                let filling = image.scaled(toFill: area)
                return (whole, ImageRect(filling), filling)
            }
            // The largest part of the image with the proportions of the area.
            let part = area.scaled(toFit: image)
            let source = ImageRect(Span(part.width, in: image.width), Span(part.height, in: image.height))
            return (source, ImageRect(area), nil)
        case .center, .top, .bottom, .left, .right, .topLeft, .topRight, .bottomLeft, .bottomRight:
            // Shows the shorter of both lengths, aligned within the longer one.
            let width = min(image.width, area.width)
            let height = min(image.height, area.height)
            let (x, y) = mode.alignment
            let source = ImageRect(Span(width, in: image.width, x), Span(height, in: image.height, y))
            let destination = ImageRect(Span(width, in: area.width, x), Span(height, in: area.height, y))
            return (source, destination, nil)
        }
    }
}

/// One side of a rectangle, in whole pixels.
private struct Span {
    let start: Double
    let length: Double

    /// Places a length within a longer one. Alignment 0 is the start, 0.5 the middle, 1 the end.
    init(_ length: Double, in whole: Double, _ alignment: Double = 0.5) {
        start = ((whole - length) * alignment).wholePixels
        self.length = length
    }

    /// Creates the part of a length that two fractions select, or `nil` for a part outside.
    init?(_ start: Double, _ length: Double, of whole: Double) {
        let lower = max(0, start)
        let upper = min(1, start + length)
        guard lower < upper else { return nil }
        self.start = min((lower * whole).wholePixels, whole - 1)
        self.length = min(max(1, ((upper - lower) * whole).wholePixels), whole - self.start)
    }
}

extension ImageRect {
    fileprivate init(_ horizontal: Span, _ vertical: Span) {
        self.init(x: horizontal.start, y: vertical.start, width: horizontal.length, height: vertical.length)
    }
}

extension ImageSize {
    /// Returns the largest size with these proportions that fits into `area`.
    fileprivate func scaled(toFit area: ImageSize) -> ImageSize {
        scaled(to: area, byWidth: area.width * height <= area.height * width)
    }

    /// Returns the smallest size with these proportions that covers `area`.
    fileprivate func scaled(toFill area: ImageSize) -> ImageSize {
        scaled(to: area, byWidth: area.width * height >= area.height * width)
    }

    // Multiplies before dividing, because 375 * (100 / 500) would be a pixel short.
    private func scaled(to area: ImageSize, byWidth: Bool) -> ImageSize {
        if byWidth {
            ImageSize(width: area.width, height: max(1, (area.width * height / width).wholePixels))
        } else {
            ImageSize(width: max(1, (area.height * width / height).wholePixels), height: area.height)
        }
    }
}

extension ImageContentMode {
    /// The alignment along each side in the modes that do not resize: 0 start, 0.5 middle, 1 end.
    fileprivate var alignment: (x: Double, y: Double) {
        let x: Double =
            switch self {
            case .left, .topLeft, .bottomLeft: 0
            case .right, .topRight, .bottomRight: 1
            default: 0.5
            }
        let y: Double =
            switch self {
            case .top, .topLeft, .topRight: 0
            case .bottom, .bottomLeft, .bottomRight: 1
            default: 0.5
            }
        return (x, y)
    }
}

extension Double {
    /// The number rounded down to a whole one, but up if it is just below one: 0.29 of 100 pixels is 29, not
    /// 28.999999999999996.
    fileprivate var wholePixels: Double { (self + 0x1p-20).rounded(.down) }
}
