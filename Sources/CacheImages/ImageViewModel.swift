public import CacheFoundation
public import CacheLoader
package import CacheModels
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
/// The model needs no user interface framework. `CachedImage` of the product `CacheImagesUI` does the above in SwiftUI.
/// The first call of ``show(_:)`` creates the `ObservedResource`; until then a model is a small object.
@MainActor @Observable
public final class ImageViewModel<Output: Sendable> {
    @ObservationIgnored private let makeResource: @MainActor () -> ObservedResource<Output>
    private var resource: ObservedResource<Output>?
    /// The number of calls of `show`. Only the latest call may cancel a load.
    @ObservationIgnored private var displays: UInt64 = 0

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

    /// Changes when an image arrives and when the model drops it.
    public var revision: UInt64 { resource?.presentation.revision ?? 0 }

    /// Whether the image may appear with an animation. `false` for an image from memory, as in a list that scrolls
    /// back.
    public var shouldAnimate: Bool { resource?.presentation.shouldAnimate ?? false }

    /// Loads the image of `request` and shows it until the calling task is cancelled. Then cancels a running load and
    /// keeps the image. Memory pressure releases the image of a model that no task shows.
    ///
    /// A different request drops the previous image. The same request loads again only after a failed or cancelled
    /// load, or after the image was released. `nil` shows no image.
    public func show(_ request: ResourceRequest?) async {
        displays += 1
        let display = displays
        let resource = resource ?? makeResource()
        if self.resource == nil { self.resource = resource }
        resource.bind(request)
        for await _ in resource.states() {}
        // A later call may have started another load before this one ends.
        if display == displays { resource.cancel() }
    }

    /// Loads the image again, unless a load is running.
    public func retry() {
        resource?.reload()
    }
}
