internal import CSQLite

/// Waits for the locks of other connections, instead of SQLite's handler, whose pauses grow to 100 ms.
///
/// Used by one connection, on the thread that runs its statement.
final class BusyWait {
    var timeout: Duration
    /// Ends the wait when it is set.
    var stop: InterruptFlag?
    private var deadline = ContinuousClock.now

    init(_ timeout: Duration) {
        self.timeout = timeout
    }

    /// Makes SQLite ask this object; the connection keeps it alive.
    func install(on handle: OpaquePointer) {
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                return Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().waits(attempt: count) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether SQLite is to try the lock again.
    private func waits(attempt: Int32) -> Bool {
        let now = ContinuousClock.now
        if attempt == 0 { deadline = now + timeout }
        guard now < deadline, stop?.isSet != true else { return false }
        // The first attempts soon, because most locks are held for microseconds.
        sqlite3_sleep(attempt < 4 ? 0 : 1)
        return true
    }
}
