internal import CacheImages
internal import TestSupport

@Suite struct ImageErrorTests {
    private static let size = ImageSize(width: 0.5, height: 1)
    private static let rect = ImageRect(x: -0.0, y: 0.25, width: 1, height: -2)

    @Test(
        "the description of an image error contains the cause", .requirement("F1", "F6"),
        arguments: [
            (ImageError.malformed(reason: "r"), "the bytes are no image: r"),
            (.tooLarge(width: 3, height: 2, maxPixels: 5), "an image of 3 by 2 pixels is larger than 5 pixels"),
            (.invalidImageSize(size), "an image cannot have the size 0.5x1"),
            (.invalidDisplaySize(size), "an image cannot be shown at the size 0.5x1"),
            (.invalidScale(0), "an image cannot be shown at the scale 0"),
            (.invalidCrop(rect), "0,0.25,1,-2 is no part of an image"),
            (.cropOutsideImage(rect), "the part 0,0.25,1,-2 is outside the image"),
        ])
    func descriptions(error: ImageError, text: String) { #expect("\(error)" == text) }
}
