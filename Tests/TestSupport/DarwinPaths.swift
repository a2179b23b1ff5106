/// Darwin's code paths of the store, forced on another system (see CTestDefaults).
public enum DarwinPaths {
    /// Whether the environment forces Darwin's code paths.
    public static let areForced = ProcessInfo.processInfo.environment["CACHESTORE_PATHS"] == "darwin"
}
