internal import Dispatch
internal import Synchronization

/// The connections for lookups. One caller at a time uses a connection. A lookup takes a free connection, and waits
/// only if all are in use, for the first that becomes free. It never waits for the writer or for long reads, which have
/// separate connections (``LongReads``). The pool opens a connection when it is first needed.
///
/// The folder `Index/Reading/` has the connections of lookups and of long reads, the keys that need no statement, and
/// pages of entries. The folder may open connections and read rows. The folder changes no row.
final class ReaderPool: Sendable {
    private enum Slot {
        case unopened
        /// Opened before the first lookup. That lookup opens a new connection if another index has replaced the file.
        case prepared(Connection, FileIdentity?)
        case open(Connection)
        /// The store is suspended or closed. Indirect, because an error is larger than the slot of a lookup.
        indirect case refusing(StoreError)
    }

    /// Wraps a mutex, because an array cannot store a noncopyable value directly.
    private final class Reader: Sendable {
        /// Guards the connection, which only the holder of the mutex uses.
        let slot = Mutex(Slot.unopened)
    }

    private let readers: [Reader]
    /// Counts the free readers in ``free``.
    private let available: DispatchSemaphore
    private let free: Mutex<[Int]>
    private let open: @Sendable () throws(StoreError) -> sending Connection
    private let directory: StoreDirectory
    /// Called before a used connection is closed.
    private let willClose: @Sendable () -> Void

    init(
        count: Int, _ directory: StoreDirectory, willClose: @escaping @Sendable () -> Void,
        open: @escaping @Sendable () throws(StoreError) -> sending Connection
    ) {
        readers = (0..<count).map { _ in Reader() }
        available = DispatchSemaphore(value: count)
        free = Mutex((0..<count).reversed())
        self.directory = directory
        self.willClose = willClose
        self.open = open
    }

    /// Calls `body` with a connection of the pool, on the caller's thread.
    func read<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        available.wait()
        let number = free.withLock { $0.removeLast() }
        defer {
            // The reader used last is taken first: its pages are in the processor's caches.
            free.withLock { $0.append(number) }
            available.signal()
        }
        let value = try readers[number].slot.withLock { (slot) throws(StoreError) -> Value? in
            if number > 0, case .unopened = slot {
                // The process may have run out of descriptors: then share the first connection.
                guard let connection = try? open() else { return nil }
                slot = .open(connection)
            }
            return try use(&slot, body)
        }
        if let value { return value }
        return try readers[0].slot.withLock { (slot) throws(StoreError) in try use(&slot, body) }
    }

    /// Opens the first connection, in case the process runs out of descriptors later. Lookups report its errors.
    func prepare() {
        readers[0].slot.withLock { slot in
            guard case .unopened = slot else { return }
            let identity = directory.indexIdentity
            // The first read opens the WAL.
            guard let connection = try? open(), (try? connection.execute("PRAGMA schema_version")) != nil else {
                return
            }
            slot = .prepared(connection, identity)
        }
    }

    private func use<Value: Sendable>(
        _ slot: inout sending Slot, _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        switch slot {
        case .open(let connection):
            return try body(connection)
        case .prepared(let connection, let identity) where directory.indexIdentity == identity:
            slot = .open(connection)
            return try body(connection)
        case .unopened, .prepared:
            let connection = try open()
            slot = .open(connection)
            return try body(connection)
        case .refusing(let error):
            throw error
        }
    }

    /// Closes each connection when its caller is done. The next caller opens a new connection.
    func reset() {
        for reader in readers {
            reader.slot.withLock { slot in
                switch slot {
                case .open, .prepared:
                    // Hot keys read the header in memory that SQLite unmaps with the connection.
                    willClose()
                    slot = .unopened
                case .unopened, .refusing: break
                }
            }
        }
    }

    /// Closes each connection after its use. Lookups throw `error` from now on; after `suspended`, until ``resume()``.
    func end(with error: StoreError) {
        for reader in readers {
            reader.slot.withLock { slot in
                willClose()
                slot = .refusing(error)
            }
        }
    }

    /// Allows connections again after a suspension.
    func resume() {
        for reader in readers {
            reader.slot.withLock { slot in
                if case .refusing(.suspended) = slot { slot = .unopened }
            }
        }
    }
}
