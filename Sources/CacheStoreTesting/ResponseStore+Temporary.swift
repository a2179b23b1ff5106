public import CacheStore

extension ResponseStore {
    /// Opens an empty store in a new temporary directory. When the last reference is released, the store closes and
    /// removes the directory.
    ///
    /// - Parameters:
    ///   - clock: The clock of the store and of the queries on its views, or `nil` for the clock of `configuration`.
    ///   - configuration: The behaviour of the store.
    /// - Throws: The errors of opening a store.
    public static func temporary(
        clock: ManualClock? = nil, configuration: Configuration = Configuration()
    ) throws(StoreError) -> ResponseStore {
        let directory = try TemporaryDirectory()
        var configuration = configuration
        if let clock { configuration.clock = clock.date }
        let store = try ResponseStore(directory: directory.url, configuration: configuration)
        // The store releases its shared objects only after it has closed.
        return store.keeping(directory)
    }

    private func keeping(_ directory: TemporaryDirectory) -> ResponseStore {
        _ = shared { directory }
        return self
    }
}
