internal import CSQLite

/// Waits for the locks of other connections. Replaces SQLite's handler, whose pauses grow to 100 ms. Only one
/// connection uses this object, on the thread that runs its statement.
final class BusyWait {
    var timeout: Duration
    /// Ends the wait when it is set.
    var stop: InterruptFlag?
    private var deadline = ContinuousClock.now

    init(_ timeout: Duration) {
        self.timeout = timeout
    }

    /// Makes SQLite call this object, which the connection keeps alive.
    func install(on handle: OpaquePointer) {
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                return Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().waits(attempt: count) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether SQLite should try the lock again.
    private func waits(attempt: Int32) -> Bool {
        let now = ContinuousClock.now
        // SQLite counts from 0 for each step of a statement and each checkpoint, so all locks of one share the timeout.
        if attempt == 0 { deadline = now + timeout }
        guard now < deadline, stop?.isSet != true else { return false }
        // Repeat the first attempts without a pause, because most locks are held for microseconds.
        sqlite3_sleep(attempt < 4 ? 0 : 1)
        return true
    }
}
