extension ResponseStore {
    /// Locks `key` for a load, or returns `nil` while another loader, in any process, holds the lock.
    package func tryLock(_ key: CacheKey) throws(StoreError) -> KeyLock? { try keyLocks.tryLock(key).lock }
}
