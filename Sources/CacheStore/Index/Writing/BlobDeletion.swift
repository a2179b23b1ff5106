internal import Synchronization

/// Deletes the files of bodies. Only this type calls ``BlobDirectory/unlink(_:)``. Deletes a file only under the write
/// lock, and only if no row names it or its bytes are damaged. So an entry never loses its body. A process that stores
/// the same bytes holds the lock before or after the deletion, and its row keeps the file. An earlier, separate commit
/// removes the rows, except those of damaged bodies. A kill between that commit and the deletion leaves an orphan,
/// which ``ResponseStore/sweep(gracePeriod:)-(_)`` finds. A store that closes before its deletions stays counted as a
/// writer, as after a kill.
final class BlobDeletion: Sendable {
    private let blobs: BlobDirectory
    private let openBodies: OpenBodies

    private struct Queue {
        var pending: Set<ContentDigest> = []
        /// Files whose deletion failed. The next flush tries again.
        var failed: Set<ContentDigest> = []
    }

    /// Guards the queue, not the deletions.
    private let queue = Mutex(Queue())

    init(_ blobs: BlobDirectory, _ openBodies: OpenBodies) {
        self.blobs = blobs
        self.openBodies = openBodies
    }

    /// Queues bodies that a committed transaction released, and bodies whose files a failed transaction named.
    func add(_ digests: some Sequence<ContentDigest>) {
        queue.withLock { $0.pending.formUnion(digests) }
    }

    /// Whether no deletion is due.
    var isEmpty: Bool { queue.withLock { $0.pending.isEmpty } }

    /// Whether there are files that only this process would delete: due ones, and those whose deletion failed.
    var hasFiles: Bool { queue.withLock { !$0.pending.isEmpty || !$0.failed.isEmpty } }

    /// Makes the failed deletions due again.
    func retry() {
        queue.withLock { queue in
            queue.pending.formUnion(queue.failed)
            queue.failed = []
        }
    }

    /// Deletes due files that no row names, at least one, while there is time. Called first in a write transaction.
    func deleteBatch(_ transaction: WriteTransaction) throws(StoreError) {
        repeat {
            guard let digest = queue.withLock({ $0.pending.popFirst() }) else { return }
            do throws(StoreError) {
                _ = try deleteUnlessNeeded(digest, transaction.connection)
            } catch {
                // The error ends the transaction. The next one deletes the file.
                add([digest])
                throw error
            }
        } while !transaction.isOutOfTime
    }

    /// Deletes the file of a body unless a row names it; returns whether it existed. Called under the write lock.
    func deleteUnlessNeeded(_ digest: ContentDigest, _ connection: Connection) throws(StoreError) -> Bool {
        // Another process may have stored the same bytes since the commit that released them.
        guard try !connection.containsBlob(digest) else { return false }
        do throws(StoreError) {
            return try unlink(digest)
        } catch {
            queue.withLock { _ = $0.failed.insert(digest) }
            return false
        }
    }

    /// Deletes the file of a damaged body. The same transaction removes one of its rows. A reader of another row
    /// removes that row. Called under the write lock.
    func deleteDamaged(_ digest: ContentDigest) throws(StoreError) {
        _ = try unlink(digest)
    }

    private func unlink(_ digest: ContentDigest) throws(StoreError) -> Bool {
        // The kernel frees the blocks of a deleted file only after the last descriptor is closed.
        defer { openBodies.close(digest) }
        return try blobs.unlink(digest)
    }
}
