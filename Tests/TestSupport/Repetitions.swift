internal import Foundation

/// How often the tests that repeat themselves do so.
///
/// A debug build runs several times slower than a release build. Repetitions and dense tables shrink there, distinct
/// cases stay. The environment variable `CACHESTORE_REPETITIONS=all` restores all of them.
public enum Repetitions {
    /// Whether each test repeats itself in full.
    public static let areComplete: Bool = {
        #if DEBUG
        ProcessInfo.processInfo.environment["CACHESTORE_REPETITIONS"] == "all"
        #else
        true
        #endif
    }()

    /// Returns `full`, or `debug` where fewer repetitions are enough.
    public static func count(_ full: Int, debug: Int) -> Int { areComplete ? full : debug }
}
