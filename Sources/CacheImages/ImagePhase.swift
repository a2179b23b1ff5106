public import CacheLoader

/// The content that a view shows for an image.
public enum ImagePhase<Output: Sendable>: Sendable {
    /// No image and no load.
    case empty
    /// A load without an image yet. The progress is `nil` until a body arrives.
    case loading(LoadProgress?)
    /// The image. Remains while a newer image loads, and after that load fails.
    case image(Output)
    /// A failed load without an image.
    case failed(LoadError)
}

extension ImagePhase: Equatable where Output: Equatable {}
