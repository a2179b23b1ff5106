/// Which entries an eviction for space takes first, of those that have not expired: session entries before others, never
/// pinned ones, and among equals in this order.
///
/// Kept with the store. Either costs the same writes: one row and one entry of an index for each use.
/// `cachestore simulate` says what each comes to for a recorded sequence of requests.
@nonexhaustive
public enum EvictionPolicy: Hashable, Sendable, CaseIterable {
    /// Those used least recently. The default.
    case leastRecentlyUsed
    /// Those worth least: few uses for their bytes, long ago.
    ///
    /// Greedy-Dual-Size-Frequency: `age + frequency / size`, where `age` is what the entry evicted last was worth, as of the
    /// last use of this one. Many small entries stay in the place of a large one, so that more requests are hits, and not
    /// always more bytes; what was popular once goes when the age has caught up with it. An entry counts as 1 KiB more than
    /// its body; forms derived from it do not count, and a body that several share counts for each.
    ///
    /// Cherkasova, *Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy*, HPL-98-69R1, 1998;
    /// after Cao and Irani, *Cost-Aware WWW Proxy Caching Algorithms*, USITS 1997.
    case valueAware
}

extension ResponseStore {
    /// The policy of the store, whoever has chosen it. Runs on the calling thread, some microseconds.
    public func evictionPolicy() throws(StoreError) -> EvictionPolicy {
        try read { (connection) throws(SQLiteError) in try connection.evictionPolicy() }
    }
}
