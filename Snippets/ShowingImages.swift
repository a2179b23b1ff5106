// An image in a view: the samples of the documentation of CacheImages.

import CacheImages
import CacheImagesUI
import CacheLoader

#if canImport(SwiftUI)
import Foundation
import SwiftUI

struct Photo: View {
    let url: String
    let loader: ResourceLoader

    var body: some View {
        let variant = ImageVariant(displaySize: ImageSize(width: 100, height: 100), mode: .aspectFill, scale: 2)
        CachedImage(url, loader: loader, variant) { phase, retry in
            switch phase {
            case .empty: Color.clear
            case .loading(let progress): ProgressView(value: progress?.fraction)
            case .image(let image): Image(decorative: image.cgImage, scale: 2)
            case .failed: Button("Try again", action: retry)
            }
        }
    }
}
#endif

@MainActor func display<Output>(_ model: ImageViewModel<Output>) -> Task<Void, Never> {
    Task { await model.show(ResourceRequest("https://example.com/photo.jpg")) }
}
