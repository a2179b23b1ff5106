internal import Foundation

/// The paths that the store takes on Darwin, forced on another system (see CTestDefaults).
public enum DarwinPaths {
    /// Whether the environment forces them.
    public static let areForced = ProcessInfo.processInfo.environment["CACHESTORE_PATHS"] == "darwin"
}
