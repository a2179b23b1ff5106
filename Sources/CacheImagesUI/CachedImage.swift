#if canImport(SwiftUI)
public import CacheImages
public import CacheLoader
public import Foundation
public import SwiftUI

/// Loads and shows an image while the view is on the screen.
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
/// The view starts a load when it appears, and cancels a running load when it disappears. An image remains while a
/// newer one loads, and after that load fails. An image from memory appears without animation.
public struct CachedImage<Output: Sendable, Content: View>: View {
    /// Makes the content of a phase. `retry` loads the image again.
    public typealias MakeContent = (
        _ phase: ImagePhase<Output>, _ retry: @escaping @MainActor () -> Void
    ) -> Content

    private let request: ResourceRequest?
    private let animation: Animation?
    private let makeContent: MakeContent
    /// SwiftUI keeps the model of the first value of this view and discards the models of later values.
    @State private var model: ImageViewModel<Output>

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - request: The request of the image. `nil` shows no image. Another request loads another image.
    ///   - loader: Loads the image. Another loader has no effect until the view changes its identity.
    ///   - processor: Makes the image from the bytes. Another processor has no effect until the view changes its
    ///     identity.
    ///   - animation: Animates the appearance of an image that was not in memory. `nil` disables the animation.
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

    /// The content of the current phase.
    public var body: some View {
        makeContent(model.phase) { [model] in model.retry() }
            .animation(model.shouldAnimate ? animation : nil, value: model.revision)
            .task(id: request) { [model, request] in await model.show(request) }
    }
}

extension CachedImage where Output == DecodedImage {
    /// Creates a view of an image at a URL. ImageIO decodes a variant of the image.
    public init(
        _ url: String, loader: ResourceLoader, _ variant: ImageVariant = .original, animation: Animation? = .default,
        @ViewBuilder content: @escaping MakeContent
    ) {
        self.init(
            ResourceRequest(url), loader: loader, as: .image(variant), animation: animation, content: content)
    }
}
#endif
