/// The number of repetitions of repeating tests.
///
/// A debug build runs several times slower than a release build. It reduces repetitions and dense tables, and keeps all
/// distinct cases. The environment variable `CACHESTORE_REPETITIONS=all` restores the full numbers.
public enum Repetitions {
    /// Whether every test runs its full number of repetitions.
    public static let areComplete: Bool = {
        #if DEBUG
        ProcessInfo.processInfo.environment["CACHESTORE_REPETITIONS"] == "all"
        #else
        true
        #endif
    }()

    /// Returns `full`, or `debug` where fewer repetitions suffice.
    public static func count(_ full: Int, debug: Int) -> Int { areComplete ? full : debug }
}
