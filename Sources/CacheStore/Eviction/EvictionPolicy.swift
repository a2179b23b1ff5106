/// The order in which an eviction for space removes entries. Pinned entries are never evicted.
///
/// The index records the policy. `cachestore simulate` compares both policies for a recorded sequence of requests.
@nonexhaustive
public enum EvictionPolicy: Hashable, Sendable, CaseIterable {
    /// Evicts the least recently used entries first. The default.
    ///
    /// Storing a body counts as an access of its entry, a validation does not. Stale entries are worth as much as fresh
    /// ones, because a validator makes them fresh again.
    case leastRecentlyUsed
    /// Evicts the entries of the least value first: few accesses for their size, long ago.
    ///
    /// Greedy-Dual-Size-Frequency: the value is `age + frequency / size`. The `age` is the value of the latest evicted
    /// entry when this entry was last accessed. The policy keeps many small entries instead of one large one, so more
    /// requests are hits, but not always more bytes. Entries that are no longer popular go when the age has caught up
    /// with them. The size of an entry is its body plus 1 KiB, at most 50 mean sizes, so popular large bodies stay,
    /// too. Derived representations do not count, and a shared body counts for each of its entries. Each access writes
    /// one row and one index entry more than the default.
    ///
    /// The store keeps the access counts of entries that it evicts for space: 8 bytes for the key and a count.
    /// Evictions keep at most as many counts as there are entries. A returning entry continues with its count.
    ///
    /// Cherkasova, *Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy*, HPL-98-69R1,
    /// 1998; after Cao and Irani, *Cost-Aware WWW Proxy Caching Algorithms*, USITS 1997.
    case valueAware
}

extension ResponseStore {
    /// Returns the policy of the store. Runs on the calling thread, for some microseconds.
    public func evictionPolicy() throws(StoreError) -> EvictionPolicy {
        try read { (connection) throws(StoreError) in try connection.evictionPolicy() }
    }

    /// Reorders the entries for a new policy, in short transactions. After an error, the next opening continues.
    func reorderEntries() {
        do throws(StoreError) {
            while try read({ (connection) throws(StoreError) in try connection.hasUnorderedEntries() }) {
                try writer.write { (transaction) throws(StoreError) in try transaction.reorderEntries() }
            }
        } catch {
            observation.log.debug("cannot reorder the entries", ["error": "\(error)"])
        }
    }
}
