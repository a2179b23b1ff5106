internal import Synchronization

/// The end of a store, and its pauses.
extension ResponseStore {
    /// What calls find.
    enum Phase: UInt8, AtomicRepresentable {
        case open, suspended, closed
    }

    /// For what would work on a closed store too.
    func checkOpen() throws(StoreError) {
        switch phase.load(ordering: .acquiring) {
        case .open: break
        case .suspended: throw .suspended
        case .closed: throw .closed
        }
    }

    /// Writes what is only noted in memory and closes the index, on the calling thread. Bodies that are open stay readable; every
    /// other call throws ``StoreError/closed`` from now on.
    public func close() {
        transition.withLock { _ in
            guard phase.exchange(.closed, ordering: .acquiringAndReleasing) != .closed else { return }
            inquiries.end(with: .closed)
            writer.close()
            readers.close()
            keyLocks.end(with: .closed)
            openLock.release()
        }
    }

    /// Lets go of every lock and of the index, until ``resume()``: iOS ends a suspended app that holds a lock in a container
    /// shared with others. Blocks the calling thread until what is noted is written and the lookups under way have ended,
    /// mostly some milliseconds; a query under way is ended.
    ///
    /// Bodies that are open stay readable. Every other call throws ``StoreError/suspended``, so a loader goes on without the
    /// store. Entries of the session are gone if others open the store in the meantime. Does nothing on a closed store.
    public func suspend() {
        transition.withLock { _ in
            guard phase.load(ordering: .acquiring) == .open else { return }
            phase.store(.suspended, ordering: .releasing)
            inquiries.end(with: .suspended)
            writer.suspend()
            readers.suspend()
            blobs.abandonStagedFiles()
            keyLocks.end(with: .suspended)
            openLock.release()
        }
    }

    /// Opens the index again after ``suspend()``. Does nothing on a store that is not suspended.
    ///
    /// - Throws: As opening the store does; then it stays suspended.
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
            readers.resume()
            inquiries.begin()
            keyLocks.begin()
            phase.store(.open, ordering: .releasing)
        }
    }

    /// On a full disk, too, if there are bodies that can go.
    private func resumeWriter() throws(StoreError) {
        do throws(StoreError) {
            try writer.resume()
        } catch {
            guard let rule = place.makeRoomToOpen(after: error, configuration.indexOptions) else { throw error }
            try writer.resume()
            background.submit { store in _ = try? store.evictNow(rule) }
        }
    }
}
