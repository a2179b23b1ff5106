public import CacheStore

extension ResourceLoader {
    /// Where to remove everything from.
    public enum ClearScope: String, Hashable, Sendable, CaseIterable {
        /// The values in memory.
        case memory
        /// The responses that are stored in the loader's partition, and the values made of them.
        case disk
        /// Both.
        case all
    }

    /// What was removed.
    public struct ClearReport: Hashable, Sendable {
        /// From memory; `nil` if that was left alone.
        public internal(set) var memory: FreedMemory?
        /// From the store; `nil` if that was left alone.
        public internal(set) var disk: RemovalReport?
    }

    /// Removes everything the loader keeps, from memory, from its partition of the store, or from both.
    ///
    /// Loads that are under way deliver, but what they have begun before is not stored any more. Waits for no load.
    ///
    /// - Throws: ``LoadError/store(_:)``.
    @discardableResult
    public func clear(_ scope: ClearScope) async throws(LoadError) -> ClearReport {
        var report = ClearReport()
        // Before the store, whose removals empty memory, too.
        if scope != .disk { report.memory = memory.removeAll() }
        if scope != .memory {
            do throws(StoreError) {
                report.disk = try await store.removeAll(partition: configuration.partition)
            } catch {
                throw .store(error)
            }
        }
        return report
    }

    /// Frees memory: lets go of all values there, as under pressure. A class instance that somebody else holds is found
    /// again.
    @discardableResult
    public func evictMemory() -> FreedMemory {
        memory.evictAll()
    }
}
