/// Tells whether anybody else has the store open: everybody holds a shared lock of its directory for as long.
///
/// A process that ends, however it ends, has let go of it.
final class StorePresence: Sendable {
    /// Whether nobody else had the store open. Until ``share()``, whoever comes waits. `false` for who only reads.
    let isAlone: Bool
    private let lock: DirectoryLock
    private let place: StoreDirectory
    private let timeout: Duration

    /// - Parameter onlyReads: Then the lock is taken together with others from the beginning: who only reads has nothing to
    ///   do alone.
    init(_ place: StoreDirectory, onlyReads: Bool, timeout: Duration) throws(StoreError) {
        self.place = place
        self.timeout = timeout
        do throws(SystemError) {
            lock = try DirectoryLock(".", below: place.root)
            isAlone = onlyReads ? false : try lock.tryExclusive()
        } catch {
            throw .unusableDirectory(path: place.path, reason: error.description)
        }
        if !isAlone { try share() }
    }

    /// Takes the lock together with others.
    ///
    /// - Throws: ``StoreError/busy(path:)`` when somebody has been opening the store alone for too long.
    func share() throws(StoreError) {
        let isTaken = try mapping { () throws(SystemError) in
            try DirectoryLock.wait(timeout) { () throws(SystemError) in try lock.tryShared() }
        }
        guard isTaken else { throw .busy(path: place.path) }
    }

    /// Lets go of the lock.
    func release() {
        lock.release()
    }
}
