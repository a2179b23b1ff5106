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
        /// Copies the WAL into the database; never creates it.
        case checkpointer
    }

    private let handle: OpaquePointer
    /// How long a statement waits for a lock of another connection.
    var busyTimeout: Duration {
        didSet { busyWait.timeout = Self.bounded(busyTimeout) }
    }
    private let busyWait: BusyWait
    private var interruption: InterruptCondition?
    /// Pages in the WAL after the last commit of this connection, once ``leaveCheckpointsToOthers()`` was called: SQLite writes it there.
    private let walPages: UnsafeMutablePointer<Int32>
    /// By the address of the literal: a statement is written in one place, so its text never has to be hashed.
    private var statements: [UnsafeRawPointer: Statement] = [:]

    /// Opens the index at `path`, whose folder must be free of symbolic links.
    ///
    /// - Parameters:
    ///   - isDurable: Whether a commit waits until it is on the disk.
    ///   - deletesSecurely: Whether deleted rows are overwritten.
    ///   - cacheByteCount: Bytes of pages that the connection keeps in memory.
    package init(
        path: String, role: Role, busyTimeout: Duration, isDurable: Bool = false, deletesSecurely: Bool = false,
        cacheByteCount: Int = 8 << 20
    ) throws(SQLiteError) {
        // NOFOLLOW: an index.sqlite that is a link would make SQLite write to a file outside the store.
        let access =
            switch role {
            case .reader, .checkpointer: SQLITE_OPEN_READWRITE
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
        walPages = .allocate(capacity: 1)
        walPages.initialize(to: 0)
        self.busyTimeout = busyTimeout
        busyWait = BusyWait(Self.bounded(busyTimeout))
        busyWait.install(on: handle)
        try configure(role, isDurable, deletesSecurely, cacheByteCount)
    }

    private static func bounded(_ timeout: Duration) -> Duration { min(max(timeout, .zero), .seconds(1_000_000)) }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
        walPages.deallocate()
    }

    /// Sets the options of the connection; the file stays as it is.
    private func configure(
        _ role: Role, _ isDurable: Bool, _ deletesSecurely: Bool, _ cacheByteCount: Int
    ) throws(SQLiteError) {
        if role != .inspector { try checkWritable() }
        if role == .checkpointer {
            _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            // Nothing that makes SQLite read the schema: this connection queries no table.
            return try execute("PRAGMA fullfsync = \(isDurable ? "ON" : "OFF")")
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
            // More than a WAL at its bound: a truncated file would have to grow again.
            try execute("PRAGMA journal_size_limit = \(Checkpointer.maxByteCount / 4 * 5)")
        }
        try execute("PRAGMA cache_size = -\(max(64, cacheByteCount >> 10))")
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
    /// When the WAL, or its shared memory, cannot be opened for writing for a moment, SQLite silently falls back to reading for the life of
    /// the connection. It reports that before it tries the lock, so that this waits for no other writer.
    func checkWALWritable() throws(SQLiteError) {
        do throws(SQLiteError) {
            try waiting(.zero) { () throws(SQLiteError) in try execute("BEGIN IMMEDIATE") }
            try execute("ROLLBACK")
        } catch {
            guard error.isBusy else { throw error }
        }
    }

    /// Ends waiting for a lock as soon as `flag` is set.
    func stopWaiting(by flag: InterruptFlag) {
        busyWait.stop = flag
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
        busyWait.timeout = Self.bounded(timeout)
        defer { busyWait.timeout = Self.bounded(busyTimeout) }
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

    /// Runs VACUUM, which rewrites the whole file. `PRAGMA secure_delete` alone is not enough: pages that were split or joined keep
    /// copies of deleted cells in their unused space.
    func rewrite() throws(SQLiteError) {
        // The new file takes as much room as the index, which may be more than memory.
        try execute("PRAGMA temp_store = FILE")
        defer { _ = try? execute("PRAGMA temp_store = MEMORY") }
        try execute("VACUUM")
    }

    /// Calls `body` in a write transaction that is rolled back, and whose pages stay in memory until then.
    func rollingBack<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        try execute("PRAGMA cache_spill = OFF")
        defer { _ = try? execute("PRAGMA cache_spill = ON") }
        try prepared("BEGIN IMMEDIATE").run()
        defer { _ = try? prepared("ROLLBACK").run() }
        return try body()
    }

    // MARK: The WAL

    /// From now on commits count the pages of the WAL instead of running checkpoints.
    func leaveCheckpointsToOthers() {
        sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                pages?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, walPages)
    }

    /// Pages in the WAL after the last commit of this connection, those of other connections included.
    var walPageCount: Int { Int(walPages.pointee) }

    /// Keeps one snapshot of the index, and the WAL from being restarted, until ``endReading()``.
    package func beginReading() throws(SQLiteError) {
        try execute("BEGIN; PRAGMA schema_version")
    }

    package func endReading() {
        _ = try? execute("ROLLBACK")
    }

    /// Copies as much of the WAL into the database as readers allow.
    ///
    /// - Parameter timeout: How long to wait for another checkpointer.
    /// - Returns: Whether all of it is copied.
    func checkpoint(within timeout: Duration) throws(SQLiteError) -> Bool {
        // SQLite opens the WAL with the first read.
        try execute("PRAGMA schema_version")
        return try checkpoint(SQLITE_CHECKPOINT_PASSIVE, within: timeout)
    }

    /// Copies the WAL into the database, so that the next transaction writes over its beginning; `false` if readers still need it.
    ///
    /// - Parameter timeout: How long to wait for writers, checkpointers and, while no connection can write, readers.
    @discardableResult
    func restartWAL(within timeout: Duration) throws(SQLiteError) -> Bool {
        try waiting(timeout) { () throws(SQLiteError) in try checkpoint(SQLITE_CHECKPOINT_RESTART, within: timeout) }
    }

    /// Copies the WAL into the database and truncates its file; `false` if readers still need it.
    func truncateWAL() throws(SQLiteError) -> Bool {
        try checkpoint(SQLITE_CHECKPOINT_TRUNCATE, within: busyTimeout)
    }

    private func checkpoint(_ mode: Int32, within timeout: Duration) throws(SQLiteError) -> Bool {
        let deadline = ContinuousClock.now + timeout
        while true {
            var (pageCount, copiedCount) = (Int32(0), Int32(0))
            let result = sqlite3_wal_checkpoint_v2(handle, "main", mode, &pageCount, &copiedCount)
            if result == SQLITE_OK { return copiedCount == pageCount }
            let error = error(result, sql: nil)
            guard error.isBusy else { throw error }
            // SQLite waits for readers, but not for other checkpointers.
            guard ContinuousClock.now < deadline else { return false }
            sqlite3_sleep(1)
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
