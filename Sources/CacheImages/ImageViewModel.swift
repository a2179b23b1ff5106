public import CacheFoundation
public import CacheLoader
public import Observation

/// Loads the image of one view while the view is on the screen.
///
/// ```swift
/// let model = ImageViewModel(loader: loader, as: .image(decoder, variant))
/// let display = Task { await model.show(ResourceRequest("https://example.com/photo.jpg")) }
/// // The view draws `model.phase`, and observes it with `withObservationTracking`.
/// display.cancel()    // when the view leaves the screen
/// ```
///
/// The model needs no user interface framework. `CachedImage` of the product `CacheImagesUI` does the above in SwiftUI. A model creates
/// its `ObservedResource` with the first call of ``show(_:)``; until then it is a small object.
@MainActor @Observable
public final class ImageViewModel<Output: Sendable> {
    @ObservationIgnored private let makeResource: @MainActor () -> ObservedResource<Output>
    private var resource: ObservedResource<Output>?
    /// Counts the calls of `show`. Only the latest one may cancel a load.
    @ObservationIgnored private var displays: UInt64 = 0

    /// - Parameter makeResource: Creates the resource of the image.
    package init(_ makeResource: @escaping @MainActor () -> ObservedResource<Output>) {
        self.makeResource = makeResource
    }

    /// Creates a model without an image. `processor` makes the image from the bytes.
    public convenience init(loader: ResourceLoader, as processor: some Processor<Data, Output>) {
        self.init { ObservedResource(loader: loader, as: processor) }
    }

    /// The content to show.
    public var phase: ImagePhase<Output> {
        guard let resource else { return .empty }
        if let image = resource.value { return .image(image) }
        switch resource.state {
        case .loading: return .loading(resource.progress)
        case .failed(let error, _): return .failed(error)
        case .idle, .loaded, .cancelled, .released: return .empty
        }
    }

    /// A number that differs for every image, and while there is none.
    public var revision: UInt64 { resource?.presentation.revision ?? 0 }

    /// Whether the image may appear with an animation. `false` if it was in memory, as in a list that is scrolled back.
    public var shouldAnimate: Bool { resource?.presentation.shouldAnimate ?? false }

    /// Loads the image of `request` and shows it until the calling task is cancelled. Then cancels a load under way, and keeps an
    /// image. Memory pressure releases the image of a model that no task shows.
    ///
    /// Another request drops the former image. The same one loads again only if its load failed or was cancelled, or if the image was
    /// released. `nil` shows no image.
    public func show(_ request: ResourceRequest?) async {
        displays += 1
        let display = displays
        let resource = resource ?? makeResource()
        if self.resource == nil { self.resource = resource }
        resource.bind(request)
        for await _ in resource.states() {}
        // A later call may have begun a load of its own before this one ends.
        if display == displays { resource.cancel() }
    }

    /// Loads the image again. A load under way goes on.
    public func retry() {
        resource?.reload()
    }
}
