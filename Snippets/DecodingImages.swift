// Images decoded at their display size: the samples of the documentation of CacheImages.

import CacheImages
import CacheLoader
import CacheStore
import Foundation

/// The bytes of an image, and the pixels to draw.
struct Picture {
    let data: Data
    let placement: ImagePlacement

    init(_ data: Data, _ placement: ImagePlacement) {
        self.data = data
        self.placement = placement
    }
}

struct Decoder: ImageDecoder {
    let id = ProcessorID("decoder", parameters: ["library": "1.2"])

    func decode(_ data: Data, _ variant: ImageVariant) throws -> Picture {
        guard let header = ImageHeader(data) else { throw ImageError.malformed(reason: "the format is unknown") }
        return try Picture(data, variant.placement(of: header.size(in: variant.orientation)))
    }
}

func show(_ loader: ResourceLoader, _ decoder: Decoder, _ png: StoredForm<Picture>) async throws {
    let variant = ImageVariant(displaySize: ImageSize(width: 100, height: 100), mode: .aspectFill, scale: 2)
    let photo = try await loader.load("https://example.com/photo.jpg", as: .image(decoder, variant))
    print(photo.source, photo.value)

    let placement = try variant.placement(of: ImageSize(width: 500, height: 375))
    print(placement.source, placement.destination, placement.output)  // 62,0,375,375 0,0,200,200 200x200

    let thumbnail = ImageProcessor(decoder, variant).stored(as: png)
    let image = try await loader.load("https://example.com/photo.jpg", as: thumbnail).value
    print(image)
}

/// Shows each image of a body that arrives.
func watch<Progressive: ProgressiveImageDecoder>(
    _ cache: HTTPCache, _ request: HTTPRequest, _ decoder: Progressive, _ show: (Progressive.Image) -> Void
) async throws {
    let variant = ImageVariant(displaySize: ImageSize(width: 100, height: 100), mode: .aspectFill, scale: 2)
    let response = try await cache.response(for: request)
    for try await image in decoder.images(from: response.body, variant) { show(image) }
}

let store = try ResponseStore(directory: FileManager.default.temporaryDirectory.appending(path: "photos"))
let png = StoredForm<Picture>(
    "png", encode: { $0.data },
    decode: { try Picture($0, ImageVariant.original.placement(of: ImageSize(width: 200, height: 200))) })
try await show(ResourceLoader(store: store), Decoder(), png)
