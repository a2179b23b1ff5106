internal import CacheImages
internal import TestSupport
internal import Testing

@Suite struct ImageErrorTests {
    @Test(
        "the description of an image error contains the cause", .requirement("F1"),
        arguments: [
            (ImageError.malformed(reason: "r"), "the bytes are no image: r"),
            (.tooLarge(width: 3, height: 2, maxPixels: 5), "an image of 3 by 2 pixels is larger than 5 pixels"),
        ])
    func descriptions(error: ImageError, text: String) {
        #expect("\(error)" == text)
    }
}
