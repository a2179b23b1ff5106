import CacheLoader

/// A value that can be told from every other.
final class Box: Sendable {
    let id: Int

    init(_ id: Int) {
        self.id = id
    }
}

/// A value that does something when it goes.
final class Farewell: Sendable {
    private let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = work
    }

    deinit {
        work()
    }
}
