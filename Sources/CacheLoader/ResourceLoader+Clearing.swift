public import CacheStore

extension ResourceLoader {
    /// The storage to clear.
    public enum ClearScope: String, Hashable, Sendable, CaseIterable {
        /// The values in memory.
        case memory
        /// The stored responses of the loader's partition, and the values made from them.
        case disk
        /// Both.
        case all
    }

    /// Removes all content of the loader: from memory, from its partition of the store, or from both.
    ///
    /// Does not wait for loads. Active loads deliver their results, but the responses to their earlier requests are no
    /// longer stored.
    ///
    /// - Returns: The values removed from memory and the entries removed from the store, or `nil` for a part that was
    ///   not cleared.
    /// - Throws: ``LoadError/store(_:)``.
    @discardableResult
    public func clear(
        _ scope: ClearScope
    ) async throws(LoadError) -> (memory: FreedMemory?, disk: RemovalReport?) {
        var report: (memory: FreedMemory?, disk: RemovalReport?) = (nil, nil)
        if scope != .disk { report.memory = memory.removeAll() }
        if scope != .memory {
            report.disk = try await LoadError.wrapping { () async throws(StoreError) in
                try await store.removeAll(.partition(configuration.partition))
            }
            // Values whose responses are removed can no longer answer.
            memory.removeAll()
        }
        return report
    }

    /// Releases all values in memory, as under memory pressure. A load still finds a class instance that the program
    /// holds.
    @discardableResult
    public func evictMemory() -> FreedMemory {
        memory.evictAll()
    }
}
