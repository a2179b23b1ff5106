#if canImport(SwiftUI)
public import CacheImages
public import CacheLoader
public import Foundation
public import SwiftUI

/// Shows an image that a loader loads while the view is on the screen.
///
/// ```swift
/// CachedImage("https://example.com/photo.jpg", loader: loader, variant) { phase, retry in
///     switch phase {
///     case .empty: Color.clear
///     case .loading(let progress): ProgressView(value: progress?.fraction)
///     case .image(let image): Image(decorative: image.cgImage, scale: 2)
///     case .failed: Button("Try again", action: retry)
///     }
/// }
/// ```
///
/// The view begins to load when it appears, and cancels a load under way when it disappears. An image stays while a newer one is loaded,
/// and when that load fails. An image from memory appears without an animation.
public struct CachedImage<Output: Sendable, Content: View>: View {
    /// Makes the content of a phase. `retry` loads the image again.
    public typealias MakeContent = (
        _ phase: ImagePhase<Output>, _ retry: @escaping @MainActor () -> Void
    ) -> Content

    private let request: ResourceRequest?
    private let animation: Animation?
    private let makeContent: MakeContent
    /// SwiftUI keeps the model of the first value of this view; the models of later values are never used.
    @State private var model: ImageViewModel<Output>

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - request: The request of the image; `nil` shows none. Another request loads another image.
    ///   - loader: Loads the image. Another loader changes nothing until the view has another identity.
    ///   - processor: Makes the image from the bytes. Another processor changes nothing until the view has another identity.
    ///   - animation: Animates the change to an image that was not in memory; `nil` animates no change.
    ///   - content: Makes the content of each phase.
    public init(
        _ request: ResourceRequest?, loader: ResourceLoader, as processor: some Processor<Data, Output>,
        animation: Animation? = .default, @ViewBuilder content: @escaping MakeContent
    ) {
        self.request = request
        self.animation = animation
        makeContent = content
        _model = State(initialValue: ImageViewModel(loader: loader, as: processor))
    }

    /// The content of the present phase.
    public var body: some View {
        makeContent(model.phase) { [model] in model.retry() }
            .animation(model.shouldAnimate ? animation : nil, value: model.revision)
            .task(id: request) { [model, request] in await model.show(request) }
    }
}

extension CachedImage where Output == DecodedImage {
    /// Creates a view of an image at a URL, which ImageIO decodes in a variant.
    public init(
        _ url: String, loader: ResourceLoader, _ variant: ImageVariant = .original, animation: Animation? = .default,
        @ViewBuilder content: @escaping MakeContent
    ) {
        self.init(
            ResourceRequest(url), loader: loader, as: .image(variant), animation: animation, content: content)
    }
}
#endif
