import TestSupport

/// A value with a distinct identity.
final class Box: Sendable {
    let id: Int

    init(_ id: Int) { self.id = id }
}

/// A value that calls a closure when it is released.
final class Farewell: Sendable {
    private let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    deinit { work() }
}
