/// Which entries an eviction for space takes first. Pinned entries are never taken.
///
/// The store keeps the policy. `cachestore simulate` compares both for a recorded sequence of requests.
@nonexhaustive
public enum EvictionPolicy: Hashable, Sendable, CaseIterable {
    /// The least recently used entries. The default.
    ///
    /// Storing a body is a use of its entry, a validation is none. Stale entries are worth as much as fresh ones: a validator makes
    /// them fresh again.
    case leastRecentlyUsed
    /// The entries of the least value: few uses for their bytes, long ago.
    ///
    /// Greedy-Dual-Size-Frequency: `age + frequency / size`, where `age` is the value of the last evicted entry at the last use of
    /// this one. Many small entries stay in the place of a large one: more requests are hits, and not always more bytes. Formerly
    /// popular entries go when the age has caught up with them. An entry counts as 1 KiB more than its body; derived forms do not
    /// count, and a shared body counts for each of its entries. Each use costs a row and an index entry more than the default.
    ///
    /// Cherkasova, *Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy*, HPL-98-69R1, 1998;
    /// after Cao and Irani, *Cost-Aware WWW Proxy Caching Algorithms*, USITS 1997.
    case valueAware
}

extension ResponseStore {
    /// The policy of the store. Runs on the calling thread, some microseconds.
    public func evictionPolicy() throws(StoreError) -> EvictionPolicy {
        try read { (connection) throws(SQLiteError) in try connection.evictionPolicy() }
    }
}
