internal import CSQLite
internal import CSQLiteVFS

/// One connection to the index.
///
/// It has one owner at a time, which is why SQLite's own mutexes are off (https://sqlite.org/threadsafe.html,
/// "Multi-thread") and why it is not `Sendable`: a reader sits behind the mutex of its slot, the writer's behind the
/// writer's.
package final class Connection {
    /// What a connection is for.
    package enum Role {
        /// Runs queries only; SQLite refuses everything else.
        case reader
        /// Reads and writes, and creates the file if need be.
        case writer
        /// Looks at a store that other connections own; opens the file read-only and never creates it.
        case inspector
        /// Moves the log into the file; never creates it.
        case checkpointer
        /// Reads and writes while nobody else has the store open; needs no memory that is shared, and never creates the file.
        case exclusive
    }

    private let handle: OpaquePointer
    private let busyTimeout: Duration
    private var interruption: InterruptCondition?
    /// What was evicted in the present transaction.
    var evicted = EvictionReport()
    /// Pages in the log after the last commit of this connection, once ``leaveLogToOthers()`` was called: SQLite writes it there.
    private let logPages: UnsafeMutablePointer<Int32>
    /// By the address of the literal: a statement is written in one place, so its text never has to be hashed.
    private var statements: [UnsafeRawPointer: Statement] = [:]

    /// Opens the index at `path`, whose folder must be free of symbolic links.
    ///
    /// - Parameters:
    ///   - isDurable: Whether a commit waits until it is on the disk.
    ///   - deletesSecurely: Whether what is deleted is overwritten.
    package init(
        path: String, role: Role, busyTimeout: Duration, isDurable: Bool = false, deletesSecurely: Bool = false
    ) throws(SQLiteError) {
        // NOFOLLOW: an index.sqlite that is a link would make SQLite write to a file outside the store.
        let access =
            switch role {
            case .reader, .checkpointer, .exclusive: SQLITE_OPEN_READWRITE
            case .writer: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .inspector: SQLITE_OPEN_READONLY
            }
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(path, &opened, flags, role == .writer ? csqlitevfs_gathering() : nil)
        guard result == SQLITE_OK, let opened else {
            let error = SQLiteError(handle: opened, result: result)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        logPages = .allocate(capacity: 1)
        logPages.initialize(to: 0)
        // SQLite counts milliseconds in 32 bits.
        self.busyTimeout = min(max(busyTimeout, .zero), .seconds(1_000_000))
        try configure(role, isDurable, deletesSecurely)
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
        logPages.deallocate()
    }

    /// Sets what belongs to the connection; the file stays as it is.
    private func configure(_ role: Role, _ isDurable: Bool, _ deletesSecurely: Bool) throws(SQLiteError) {
        sqlite3_busy_timeout(handle, Int32(busyTimeout / .milliseconds(1)))
        if role != .inspector { try checkWritable() }
        if role == .checkpointer {
            _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            // Nothing that would have the schema read: this connection asks no table.
            return try execute("PRAGMA fullfsync = \(isDurable ? "ON" : "OFF")")
        }
        // Before anything is read: it is then that the memory would be made.
        if role == .exclusive {
            try execute("PRAGMA locking_mode = EXCLUSIVE")
            // The log stays where there is no room for it in the index.
            _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        }
        // A schema that was tampered with must not run code, nor may SQL from outside damage the file's structure.
        _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        if role == .writer {
            // Debian's SQLite says FULL in WAL mode, and overwrites deleted content with zeros.
            try execute("PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL")")
            try execute("PRAGMA secure_delete = \(deletesSecurely ? "ON" : "OFF")")
            // Where fsync(2) alone does not reach the disk: on Apple's systems.
            if isDurable { try execute("PRAGMA fullfsync = ON") }
            // More than there is at the bound: a log that was cut would have to grow again.
            try execute("PRAGMA journal_size_limit = \(Checkpointer.maxLogByteCount / 4 * 5)")
        }
        try execute("PRAGMA cache_size = -8192")
        try execute("PRAGMA temp_store = MEMORY")
        if role == .reader || role == .inspector { try execute("PRAGMA query_only = ON") }
    }

    /// Throws where every later write would fail: better to know when the store is opened.
    ///
    /// When one open of the file fails for want of space, descriptors or permission, SQLite falls back to read-only in
    /// silence. When the header of the file forbids writing, it says so once it has read it.
    func checkWritable() throws(SQLiteError) {
        guard sqlite3_db_readonly(handle, "main") == 0 else {
            throw SQLiteError(extendedCode: SQLITE_READONLY, message: "the index can only be read")
        }
    }

    /// Throws where every later write would fail although the index itself can be written.
    ///
    /// When the log, or the memory that its readers share, cannot be opened for writing for a moment, SQLite falls back to
    /// reading in silence, and stays there for as long as the connection lives. It says so before it looks at the lock, so
    /// that nobody has to be waited for.
    func checkLogWritable() throws(SQLiteError) {
        do throws(SQLiteError) {
            try keepingOthersFromWriting(within: .zero) {}
        } catch {
            guard error.isBusy else { throw error }
        }
    }

    /// Calls `body` while no other connection can write.
    ///
    /// - Parameter timeout: How long whoever writes now is waited for.
    func keepingOthersFromWriting(
        within timeout: Duration, _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try waiting(timeout) { () throws(SQLiteError) in try execute("BEGIN IMMEDIATE") }
        defer { _ = try? execute("ROLLBACK") }
        try body()
    }

    /// Ends statements with `SQLITE_INTERRUPT` from now on: when `flag` is set, or when `timeLimit` has passed.
    func interrupt(by flag: InterruptFlag, timeLimit: Duration? = nil) {
        let condition = InterruptCondition(flag, timeLimit: timeLimit)
        interruption = condition
        // SQLite checks after every thousand steps of a statement: mostly a fraction of a millisecond. Within one step it may wait for
        // a lock, or sort.
        sqlite3_progress_handler(
            handle, 1_000,
            { condition in
                guard let condition else { return 0 }
                return Unmanaged<InterruptCondition>.fromOpaque(condition).takeUnretainedValue().isMet ? 1 : 0
            }, Unmanaged.passUnretained(condition).toOpaque())
    }

    /// Asks `authorizer` about each action of a statement that is prepared; `nil` allows all of them.
    ///
    /// SQLite prepares earlier statements again at their next run. The caller keeps `authorizer` alive.
    func setAuthorizer(_ authorizer: QueryAuthorizer?) {
        guard let authorizer else {
            sqlite3_set_authorizer(handle, nil, nil)
            return
        }
        sqlite3_set_authorizer(
            handle,
            { authorizer, action, first, second, _, view in
                guard let authorizer else { return SQLITE_DENY }
                return Unmanaged<QueryAuthorizer>.fromOpaque(authorizer).takeUnretainedValue()
                    .decision(on: action, first.text, second.text, in: view.text)
            }, Unmanaged.passUnretained(authorizer).toOpaque())
    }

    /// Calls `body` with another timeout for the locks of SQLite.
    private func waiting<Value>(
        _ timeout: Duration, _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        sqlite3_busy_timeout(handle, Int32(timeout / .milliseconds(1)))
        defer { sqlite3_busy_timeout(handle, Int32(busyTimeout / .milliseconds(1))) }
        return try body()
    }

    /// Begins a transaction that writes.
    ///
    /// - Parameter timeout: How long to wait for another connection that writes.
    func beginWriting(within timeout: Duration) throws(SQLiteError) {
        try waiting(timeout) { () throws(SQLiteError) in try prepared("BEGIN IMMEDIATE").run() }
    }

    /// Makes the file one that is read while it is written.
    ///
    /// The switch to WAL on a new file does not wait for the busy timeout while another process does the same.
    func enterWAL() throws(SQLiteError) {
        let deadline = ContinuousClock.now + busyTimeout
        while true {
            do throws(SQLiteError) {
                return try execute("PRAGMA journal_mode = WAL")
            } catch {
                guard error.isBusy, ContinuousClock.now < deadline else { throw error }
                sqlite3_sleep(5)
            }
        }
    }

    /// The statement for `sql`, prepared once per connection.
    ///
    /// The caller resets it before anybody asks for it again.
    package func prepared(_ sql: StaticString) throws(SQLiteError) -> Statement {
        let address = UnsafeRawPointer(sql.utf8Start)
        if let statement = statements[address] { return statement }
        do throws(SQLiteError) {
            let statement = try prepareOnly(UnsafeBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount))
            statements[address] = statement
            return statement
        } catch let error where error.code == SQLITE_ERROR {
            // The statements are right: a table or a column that they need is gone.
            throw SQLiteError(extendedCode: SQLITE_CORRUPT, message: error.message, sql: error.sql)
        }
    }

    /// The one statement of a text that is not known beforehand. It is finalised when it is released.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var sql = sql
        // `withUTF8` rethrows, and would lose the type of the error.
        return try sql.withUTF8 { text in
            Result { () throws(SQLiteError) in try prepareOnly(text) }
        }.get()
    }

    private func prepareOnly(_ text: UnsafeBufferPointer<UInt8>) throws(SQLiteError) -> Statement {
        let (first, rest) = try prepareFirst(text)
        guard let first else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is no statement in the text")
        }
        guard try prepareFirst(rest).statement == nil else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is more than one statement in the text")
        }
        return first
    }

    /// The first statement of a text, `nil` if there are only spaces and comments, and what follows it.
    private func prepareFirst(
        _ text: UnsafeBufferPointer<UInt8>
    ) throws(SQLiteError) -> (statement: Statement?, rest: UnsafeBufferPointer<UInt8>) {
        var statement: OpaquePointer?
        let (result, end) = text.withMemoryRebound(to: CChar.self) { characters in
            var tail: UnsafePointer<CChar>?
            let result = sqlite3_prepare_v3(
                handle, characters.baseAddress, Int32(clamping: characters.count), UInt32(SQLITE_PREPARE_PERSISTENT),
                &statement, &tail)
            return (result, characters.baseAddress.flatMap { start in tail.map { $0 - start } } ?? characters.count)
        }
        guard result == SQLITE_OK else { throw error(result, sql: String(decoding: text, as: UTF8.self)) }
        return (
            statement.map { Statement(handle: $0, connection: self) },
            UnsafeBufferPointer(rebasing: text[min(end, text.count)...])
        )
    }

    /// Runs statements that bind nothing, and throws their rows away.
    package func execute(_ sql: String) throws(SQLiteError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw error(result, sql: sql) }
    }

    /// The first column of the first row; 0 if there is none.
    func integer(_ statement: Statement) throws(SQLiteError) -> Int64 {
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }

    /// Writes the whole file anew. What was deleted is overwritten at once, but copies of it are left where pages were split
    /// and joined, in the space between their cells, which nothing else reaches.
    func rewrite() throws(SQLiteError) {
        // The new file takes as much room as the index, which may be more than memory.
        try execute("PRAGMA temp_store = FILE")
        defer { _ = try? execute("PRAGMA temp_store = MEMORY") }
        try execute("VACUUM")
    }

    /// Calls `body` in a transaction that is taken back, and whose pages are kept in memory until then.
    func tentatively(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try execute("PRAGMA cache_spill = OFF")
        defer { _ = try? execute("PRAGMA cache_spill = ON") }
        try prepared("BEGIN IMMEDIATE").run()
        defer { _ = try? prepared("ROLLBACK").run() }
        try body()
    }

    // MARK: The log

    /// From now on commits count the pages in the log instead of moving them into the index.
    func leaveLogToOthers() {
        sqlite3_wal_hook(
            handle,
            { logPages, _, _, count in
                logPages?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, logPages)
    }

    /// Pages in the log after the last commit of this connection, those of others included.
    var logPageCount: Int { Int(logPages.pointee) }

    /// Sees the index as it is now until ``endReading()``, and keeps the log from beginning anew.
    package func beginReading() throws(SQLiteError) {
        try execute("BEGIN; PRAGMA schema_version")
    }

    package func endReading() {
        _ = try? execute("ROLLBACK")
    }

    /// Moves as much of the log into the index as readers allow.
    ///
    /// - Parameter timeout: How long others who move it are waited for.
    /// - Returns: Whether all of it is there.
    func checkpoint(within timeout: Duration) throws(SQLiteError) -> Bool {
        // The log is not opened before something is read.
        try execute("PRAGMA schema_version")
        return try moveLog(SQLITE_CHECKPOINT_PASSIVE, within: timeout)
    }

    /// Moves the log into the index, so that the next transaction writes over its beginning; `false` if somebody needs it still.
    ///
    /// - Parameter timeout: How long others are waited for: who writes, who moves the log, and, while nobody can write, who reads.
    func restartLog(within timeout: Duration) throws(SQLiteError) -> Bool {
        try waiting(timeout) { () throws(SQLiteError) in try moveLog(SQLITE_CHECKPOINT_RESTART, within: timeout) }
    }

    /// Moves the log into the index and cuts it to nothing; `false` if somebody needs it still.
    func truncateLog() throws(SQLiteError) -> Bool {
        try moveLog(SQLITE_CHECKPOINT_TRUNCATE, within: busyTimeout)
    }

    private func moveLog(_ mode: Int32, within timeout: Duration) throws(SQLiteError) -> Bool {
        let deadline = ContinuousClock.now + timeout
        while true {
            var (pageCount, movedCount) = (Int32(0), Int32(0))
            let result = sqlite3_wal_checkpoint_v2(handle, "main", mode, &pageCount, &movedCount)
            if result == SQLITE_OK { return movedCount == pageCount }
            let error = error(result, sql: nil)
            guard error.isBusy else { throw error }
            // SQLite waits for readers, but not for others who move the log.
            guard ContinuousClock.now < deadline else { return false }
            sqlite3_sleep(5)
        }
    }

    /// The texts of the statements that are kept.
    package var preparedSQL: [String] { statements.values.map(\.sql) }

    /// Makes SQLite refuse longer texts and blobs.
    package func limitLength(to byteCount: Int32) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, byteCount)
    }

    /// The rows that the last INSERT, UPDATE or DELETE changed itself, not counting those of triggers.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    /// The number of the row that the last INSERT has made, not one in a trigger.
    var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The rows that were written since the connection was opened, those of triggers included.
    package var rowsWritten: Int64 { sqlite3_total_changes64(handle) }

    /// The pages that were written since the connection was opened: in WAL mode, to the log.
    package var pagesWritten: Int64 {
        var (pages, peak): (Int32, Int32) = (0, 0)
        guard sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 0) == SQLITE_OK else { return 0 }
        return Int64(UInt32(bitPattern: pages))
    }

    /// Whether a transaction is open. SQLite ends one by itself on errors such as a full disk.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The error of the call on this connection that just returned `result`.
    func error(_ result: Int32, sql: String?) -> SQLiteError {
        SQLiteError(handle: handle, result: result, sql: sql)
    }
}

extension UnsafePointer<CChar>? {
    fileprivate var text: String { map { String(cString: $0) } ?? "" }
}
