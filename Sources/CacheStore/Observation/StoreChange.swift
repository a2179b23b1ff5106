/// A change that this process made to the entries of a store.
///
/// An eviction is no change in this sense: an evicted response was correct. Changes by other processes are not seen.
package enum StoreChange: Sendable {
    /// The entry of this key with this id was stored, or its metadata was replaced.
    case stored(CacheKey, id: Int64)
    /// Entries of this key were removed.
    case removed(CacheKey)
    /// Entries of many keys were removed; the partition is `nil` if entries of all partitions may be among them.
    case removedMany(partition: String?)
}
