/// What a view shows of a resource. All of it changes in one step.
public struct ResourcePresentation<Output: Sendable>: Sendable {
    /// What to show: the value, or the placeholder as long as there is none.
    public let content: Output?
    /// Where the value came from, its age and its fields; `nil` as long as there is none.
    public let loaded: Loaded<Output>?
    /// Another number for every value, and for there being none. To tell a change of the value by, as
    /// `animation(_:value:)` wants it: values themselves need not be comparable.
    public let revision: UInt64
    /// Whether a load is under way and there is no value.
    public let showsSpinner: Bool
    /// Whether the value may come into view with an animation: not if it was there when it was asked for, as in a list
    /// that is scrolled back.
    public let shouldAnimate: Bool

    /// Whether ``content`` is the placeholder.
    public var isPlaceholder: Bool { loaded == nil && content != nil }

    package init<Request>(_ resource: BoundResource<Request, Loaded<Output>>, placeholder: Output?) {
        loaded = resource.state.value
        content = loaded?.value ?? placeholder
        revision = resource.revision
        showsSpinner = resource.state.isLoading && loaded == nil
        shouldAnimate = loaded != nil && !resource.cameAtOnce
    }
}
