import TestSupport

/// Counts the concurrent requests of an origin.
final class RequestsUnderWay: Sendable {
    private struct Counts {
        var now = 0
        var most = 0
    }

    /// Guards the counts.
    private let counts = Mutex(Counts())

    /// The highest number so far.
    var most: Int { counts.withLock { $0.most } }

    func begin() {
        counts.withLock { counts in
            counts.now += 1
            counts.most = max(counts.most, counts.now)
        }
    }

    func end() { counts.withLock { $0.now -= 1 } }
}
