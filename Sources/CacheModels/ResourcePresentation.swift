public import CacheLoader

/// The content that a view shows for a resource. All properties change in one step.
public struct ResourcePresentation<Output: Sendable>: Sendable {
    /// The content to show: the value, or the placeholder while there is no value.
    public let content: Output?
    /// The value with its source, age and fields, or `nil` while there is no value.
    public let loaded: Loaded<Output>?
    /// A number that differs for every value, and while there is no value. Use it to detect a change of the value, for
    /// example in `animation(_:value:)`. Values themselves need not be comparable.
    public let revision: UInt64
    /// Whether a load is in progress and there is no value.
    public let showsSpinner: Bool
    /// Whether the value may appear with an animation. `false` if it was available immediately, for example when the
    /// user scrolls back in a list.
    public let shouldAnimate: Bool

    /// Whether ``content`` is the placeholder.
    public var isPlaceholder: Bool { loaded == nil && content != nil }

    init<Request>(_ resource: BoundResource<Request, Output>, placeholder: Output?) {
        loaded = resource.state.value
        content = loaded?.value ?? placeholder
        revision = resource.revision
        showsSpinner = resource.state.isLoading && loaded == nil
        shouldAnimate = loaded != nil && !resource.cameAtOnce
    }
}
