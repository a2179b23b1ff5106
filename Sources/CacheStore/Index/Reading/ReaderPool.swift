internal import Synchronization

/// The connections for lookups.
///
/// One caller at a time uses a connection. A lookup takes the first free connection and waits only when all are taken;
/// a lookup never waits for the writer. The pool opens a connection when it is first needed.
final class ReaderPool: Sendable {
    private enum Slot {
        case unopened
        case open(Connection)
        case suspended
        case closed
    }

    /// Holds a mutex in an array, which cannot store a noncopyable value directly.
    private final class Reader: Sendable {
        /// Guards the connection, which only the holder of the mutex uses.
        let slot = Mutex(Slot.unopened)
    }

    private let readers: [Reader]
    private let open: @Sendable () throws(StoreError) -> sending Connection

    init(count: Int, open: @escaping @Sendable () throws(StoreError) -> sending Connection) {
        readers = (0..<count).map { _ in Reader() }
        self.open = open
    }

    /// Calls `body` with a connection of the pool, on the caller's thread.
    func read<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        for reader in readers {
            let value = try reader.slot.withLockIfAvailable { (slot) throws(StoreError) in try use(&slot, body) }
            if let value { return value }
        }
        return try readers[0].slot.withLock { (slot) throws(StoreError) in try use(&slot, body) }
    }

    private func use<Value: Sendable>(
        _ slot: inout sending Slot, _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        switch slot {
        case .open(let connection):
            return try body(connection)
        case .unopened:
            let connection = try open()
            slot = .open(connection)
            return try body(connection)
        case .suspended:
            throw .suspended
        case .closed:
            throw .closed
        }
    }

    /// Closes each connection as soon as its present caller is done. The next caller opens a new one.
    func reset() {
        for reader in readers {
            reader.slot.withLock { slot in
                if case .open = slot { slot = .unopened }
            }
        }
    }

    /// Closes each connection as soon as its present caller is done. Lookups throw `suspended` until `resume()`.
    func suspend() {
        for reader in readers {
            reader.slot.withLock { slot in
                if case .closed = slot { return }
                slot = .suspended
            }
        }
    }

    /// Allows connections again after a suspension.
    func resume() {
        for reader in readers {
            reader.slot.withLock { slot in
                if case .suspended = slot { slot = .unopened }
            }
        }
    }

    /// Closes each connection as soon as its present caller is done. Later lookups throw `closed`.
    func close() {
        for reader in readers { reader.slot.withLock { $0 = .closed } }
    }
}
