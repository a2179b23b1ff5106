internal import Synchronization

/// Closes, suspends and resumes a store.
extension ResponseStore {
    /// The state of a store. Calls fail in all states but `open`.
    enum Phase: UInt8, AtomicRepresentable {
        case open, suspended, closed
    }

    /// Throws unless the store is open. Needed in calls that would otherwise succeed on a closed store.
    func checkOpen() throws(StoreError) {
        switch phase.load(ordering: .acquiring) {
        case .open: break
        case .suspended: throw .suspended
        case .closed: throw .closed
        }
    }

    /// Writes pending accesses and request records, and closes the index, on the calling thread. Open bodies stay
    /// readable. Every later call throws ``StoreError/closed``. Waits at most 50 ms for other processes, then drops the
    /// accesses.
    public func close() {
        transition.withLock { _ in
            guard phase.exchange(.closed, ordering: .acquiringAndReleasing) != .closed else { return }
            end(with: .closed)
        }
    }

    /// Releases every lock and closes the index until ``resume()``. iOS terminates a suspended app that holds a lock in
    /// a shared container. Blocks the calling thread until pending accesses are written and lookups have ended, usually
    /// some milliseconds. Waits at most 50 ms for other processes, then drops the accesses. Running queries, checks,
    /// removals, evictions and snapshots throw ``StoreError/suspended``. Their earlier transactions stay.
    ///
    /// Open bodies stay readable. Every other call throws ``StoreError/suspended``, so a loader continues without the
    /// store. If another process opens the store as its only opener before ``resume()``, the session ends. Does nothing
    /// on a closed store.
    public func suspend() {
        transition.withLock { _ in
            guard phase.load(ordering: .acquiring) == .open else { return }
            phase.store(.suspended, ordering: .releasing)
            end(with: .suspended)
        }
    }

    /// Ends all work with the files of the store, closes the index and releases every lock. Later calls throw `error`.
    private func end(with error: StoreError) {
        longReads.end(with: error)
        requests.end()
        writer.end(with: error)
        readers.end(with: error)
        openBodies.end()
        blobs.suspendStaging()
        keyLocks.end(with: error)
        openLock.release()
    }

    /// Opens the index again after ``suspend()``. Does nothing unless the store is suspended.
    ///
    /// - Throws: The errors of opening the store. Then the store stays suspended.
    public func resume() throws(StoreError) {
        try transition.withLock { _ throws(StoreError) in
            guard phase.load(ordering: .acquiring) == .suspended else { return }
            try openLock.share()
            do throws(StoreError) {
                try resumeWriter()
            } catch {
                openLock.release()
                throw error
            }
            blobs.resumeStaging()
            readers.resume()
            readers.prepare()
            longReads.begin()
            requests.begin()
            openBodies.begin()
            keyLocks.begin()
            phase.store(.open, ordering: .releasing)
        }
    }

    /// Reopens the index for writing. On a full disk, deletes the ballast and uses its space.
    private func resumeWriter() throws(StoreError) {
        let (_, usedBallast) = try place.withBallast { () throws(StoreError) in try writer.resume() }
        if usedBallast { background.submit { store in _ = store.makeRoomOnDisk(for: 0) } }
    }
}
