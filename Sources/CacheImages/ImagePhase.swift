public import CacheLoader

/// The content that a view shows for an image.
public enum ImagePhase<Output: Sendable>: Sendable {
    /// There is nothing to show, and no load is under way.
    case empty
    /// A load is under way, and there is no image. The progress is `nil` until a body arrives.
    case loading(LoadProgress?)
    /// The image. It stays while a newer one is loaded, and when that load fails.
    case image(Output)
    /// The load failed, and there is no image.
    case failed(LoadError)
}

extension ImagePhase: Equatable where Output: Equatable {}
