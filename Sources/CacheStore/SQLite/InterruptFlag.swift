internal import CSQLite
internal import Synchronization

/// A flag that, while set, ends the statements of all connections that check it.
final class InterruptFlag: Sendable {
    private let value = Atomic(false)
    /// The addresses of the connections that check the flag. All of them are open.
    private let connections = Mutex<Set<UInt>>([])

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set(_ isSet: Bool) {
        value.store(isSet, ordering: .relaxed)
        guard isSet else { return }
        // SQLite does not check the flag within a step of a statement, and while it copies the WAL.
        connections.withLock { for address in $0 { sqlite3_interrupt(OpaquePointer(bitPattern: address)) } }
    }

    func add(_ connection: OpaquePointer) {
        let address = UInt(bitPattern: connection)
        connections.withLock { _ = $0.insert(address) }
    }

    /// Called before the connection is closed.
    func remove(_ connection: OpaquePointer) {
        let address = UInt(bitPattern: connection)
        // The mutex orders this call after a running interruption. sqlite3_interrupt on a closed connection is not safe
        // (https://sqlite.org/c3ref/interrupt.html).
        connections.withLock { _ = $0.remove(address) }
    }
}

/// Ends the statements of one connection when a flag is set or a time limit has passed.
final class InterruptCondition: Sendable {
    let flag: InterruptFlag
    private let deadline: SuspendingClock.Instant?

    /// - Parameter timeLimit: Starts now. The time during which the system sleeps does not count.
    init(_ flag: InterruptFlag, timeLimit: Duration? = nil) {
        self.flag = flag
        deadline = timeLimit.map { SuspendingClock.now + $0 }
    }

    var isMet: Bool { flag.isSet || deadline.map { SuspendingClock.now >= $0 } ?? false }
}
