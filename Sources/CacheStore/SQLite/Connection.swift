internal import CSQLite
internal import CSQLiteVFS
internal import CacheFoundation

/// One connection to the index. A connection has one owner at a time: the mutex of a slot guards a reader, the mutex of
/// the writer guards the writer's connection. So SQLite's own mutexes are off (https://sqlite.org/threadsafe.html,
/// "Multi-thread"), and the type is not `Sendable`.
///
/// The folder `SQLite/` wraps SQLite: connections, statements, values, errors, waits and interruptions. No other folder
/// calls functions of SQLite. The folder names no table of the store, and no other folder's types except
/// `ContentDigest`.
package final class Connection {
    /// The purpose of a connection.
    package enum Role {
        /// Runs queries only; SQLite refuses everything else.
        case reader
        /// Reads and writes, and creates a missing file.
        case writer
        /// Reads a store that other connections own. Opens the file read-only and never creates it.
        case inspector
        /// Copies the WAL into the database. Never creates the file.
        case checkpointer
        /// Reads a database of another program. Opens the file read-only and never creates it. With `isClosed`, no
        /// connection has the file open and it has no journal. Then SQLite takes no lock and creates no other file.
        case foreign(isClosed: Bool)

        fileprivate var isReadOnly: Bool {
            switch self {
            case .inspector, .foreign: true
            case .reader, .writer, .checkpointer: false
            }
        }

        fileprivate var isWriter: Bool { if case .writer = self { true } else { false } }
    }

    /// The page size of a new file.
    static let pageByteCount: Int64 = 4096
    /// The size of the longest WAL in any store: 4,000 pages, 16 MB. The first table of the WAL-index has room for
    /// about as many pages, 4,062. With more, reading a page searches two tables.
    static let maxWALByteCount = 4_000 * pageByteCount

    let handle: OpaquePointer
    private let path: String
    /// How long a statement waits for a lock of another connection.
    var busyTimeout: Duration {
        didSet { busyWait.timeout = Self.bounded(busyTimeout) }
    }
    private let busyWait: BusyWait
    private var interruption: InterruptCondition?
    /// The number of pages in the WAL after the last commit of this connection. SQLite's hook writes it after a call of
    /// ``leaveCheckpointsToOthers()``.
    private let walPages: UnsafeMutablePointer<Int32>
    /// The header that SQLite has mapped, or `nil` before that.
    var mappedHeader: WALIndexHeader?
    /// Statements by the address of their literal, which identifies the text without hashing it.
    private var statements: [UnsafeRawPointer: Statement] = [:]

    /// Opens the index at `path`, whose directory must be free of symbolic links. With `creates`, a writer creates a
    /// missing file; a store creates its index itself. With `isDurable`, a commit waits until its bytes are on the
    /// disk. `deletesSecurely` overwrites deleted rows. The connection keeps `cacheByteCount` bytes of pages in memory,
    /// and the WAL is restarted at `maxWALByteCount`.
    package init(
        path: String, role: Role, busyTimeout: Duration, creates: Bool = false, isDurable: Bool = false,
        deletesSecurely: Bool = false, cacheByteCount: Int = 8 << 20,
        maxWALByteCount: Int64 = Connection.maxWALByteCount
    ) throws(StoreError) {
        // NOFOLLOW: if index.sqlite were a link, SQLite would write to a file outside the store.
        let access =
            switch role {
            case .reader, .checkpointer, .writer: SQLITE_OPEN_READWRITE
            case .inspector: SQLITE_OPEN_READONLY
            case .foreign: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let flags =
            access | (creates ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
            | SQLITE_OPEN_EXRESCODE
        var name = path
        if case .foreign(let isClosed) = role {
            name = URL(filePath: path, directoryHint: .notDirectory).absoluteString + (isClosed ? "?immutable=1" : "")
        }
        let vfs =
            switch role {
            case .writer: csqlitevfs_gathering()
            case .inspector: csqlitevfs_query()
            case .reader, .checkpointer, .foreign: nil as UnsafePointer<CChar>?
            }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(name, &opened, flags, vfs)
        guard result == SQLITE_OK, let opened else {
            let error = SQLiteError(handle: opened, result: result)
            // SQLite returns a connection after a failure, too, which has the message.
            sqlite3_close_v2(opened)
            throw StoreError(error, path: path)
        }
        handle = opened
        self.path = path
        walPages = .allocate(capacity: 1)
        walPages.initialize(to: 0)
        self.busyTimeout = busyTimeout
        busyWait = BusyWait(Self.bounded(busyTimeout))
        busyWait.install(on: handle)
        try configure(role, isDurable, deletesSecurely, cacheByteCount, maxWALByteCount)
    }

    private static func bounded(_ timeout: Duration) -> Duration { min(max(timeout, .zero), .seconds(1_000_000)) }

    deinit {
        interruption?.flag.remove(handle)
        // Finalise the statements first. Otherwise the connection stays open until the last of them is finalised
        // (https://sqlite.org/c3ref/close.html).
        statements = [:]
        sqlite3_close_v2(handle)
        walPages.deallocate()
    }

    /// Sets the options of the connection; the file stays as it is.
    private func configure(
        _ role: Role, _ isDurable: Bool, _ deletesSecurely: Bool, _ cacheByteCount: Int, _ maxWALByteCount: Int64
    ) throws(StoreError) {
        if !role.isReadOnly { try checkWritable() }
        if case .checkpointer = role {
            _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            // Set nothing that makes SQLite read the schema, because this connection queries no table.
            return try execute("PRAGMA fullfsync = \(isDurable ? "ON" : "OFF")")
        }
        // A manipulated schema must not run code, and SQL from outside must not damage the structure of the file.
        _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        if role.isWriter {
            // Debian builds SQLite with FULL in WAL mode, and with secure deletion.
            try execute("PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL")")
            try execute("PRAGMA secure_delete = \(deletesSecurely ? "ON" : "OFF")")
            // On Apple's systems, fsync(2) alone does not reach the disk.
            if isDurable { try execute("PRAGMA fullfsync = ON") }
            // The limit is larger than the bound of the WAL, because a truncated file would have to grow again.
            try execute("PRAGMA journal_size_limit = \(maxWALByteCount / 4 * 5)")
        }
        try execute("PRAGMA cache_size = -\(max(64, cacheByteCount >> 10))")
        try execute("PRAGMA temp_store = MEMORY")
        if case .foreign = role {
            // Otherwise the last connection to close would copy the WAL into the database.
            _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            // The file may be damaged or hostile, so SQLite checks each page as it reads the page.
            try execute("PRAGMA cell_size_check = ON")
        }
        // A reader opens the file for writing, so only this setting keeps its statements from changing rows.
        if !role.isWriter { try execute("PRAGMA query_only = ON") }
    }

    /// Throws if every later write would fail, so that opening the store reports the problem. If opening the file for
    /// writing fails for want of space, descriptors or permission, SQLite silently opens it read-only. If the header of
    /// the file forbids writing, SQLite reports that after reading the header.
    func checkWritable() throws(StoreError) {
        guard sqlite3_db_readonly(handle, "main") == 0 else {
            throw .index(SQLiteError(extendedCode: SQLITE_READONLY, message: "the index can only be read"))
        }
    }

    /// Throws if every later write would fail although the index itself can be written. If the WAL or its shared memory
    /// temporarily cannot be opened for writing, SQLite silently stays read-only for the life of the connection.
    func checkWALWritable() throws(StoreError) {
        do throws(StoreError) {
            // SQLite reports that before it tries the lock, so this call need not wait for another writer.
            try waiting(.zero) { () throws(StoreError) in try execute("BEGIN IMMEDIATE") }
            try execute("ROLLBACK")
        } catch {
            guard error.isBusy else { throw error }
        }
    }

    /// Ends every wait for a lock as soon as `flag` is set.
    func stopWaiting(by flag: InterruptFlag) {
        busyWait.stop = flag
    }

    /// From now on, ends statements with `SQLITE_INTERRUPT` when `flag` is set or `timeLimit` has passed.
    func interrupt(by flag: InterruptFlag, timeLimit: Duration? = nil) {
        interruption?.flag.remove(handle)
        let condition = InterruptCondition(flag, timeLimit: timeLimit)
        interruption = condition
        flag.add(handle)
        // SQLite checks after every thousand steps of a statement, usually a fraction of a millisecond. Within one
        // step, SQLite may wait for a lock or sort rows.
        sqlite3_progress_handler(
            handle, 1_000,
            { condition in
                guard let condition else { return 0 }
                return Unmanaged<InterruptCondition>.fromOpaque(condition).takeUnretainedValue().isMet ? 1 : 0
            }, Unmanaged.passUnretained(condition).toOpaque())
    }

    /// Calls `body`, whose statements end with ``StoreError/queryTimedOut(limit:)`` after `limit`, on a connection with
    /// an interruption.
    func limitingTime<Value>(to limit: Duration, _ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        guard let flag = interruption?.flag else { preconditionFailure("the connection has no interruption") }
        interrupt(by: flag, timeLimit: limit)
        defer { interrupt(by: flag) }
        do throws(StoreError) {
            return try body()
        } catch {
            // If the flag is set, the owner of the flag knows the reason: the store is suspended or closed.
            throw error.isInterruption && !flag.isSet ? .queryTimedOut(limit: limit) : error
        }
    }

    /// Lets statements run to their end again.
    func endInterruption() {
        sqlite3_progress_handler(handle, 0, nil, nil)
        interruption?.flag.remove(handle)
        interruption = nil
    }

    /// Asks `authorizer` about each action of a prepared statement. Without one, all are allowed. SQLite prepares
    /// existing statements again at their next run. The caller keeps `authorizer` alive.
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

    /// Calls `body` with another timeout for SQLite's locks.
    private func waiting<Value>(
        _ timeout: Duration, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        busyWait.timeout = Self.bounded(timeout)
        defer { busyWait.timeout = Self.bounded(busyTimeout) }
        return try body()
    }

    /// Begins a transaction that writes. Waits at most `timeout` for another writing connection.
    func beginWriting(within timeout: Duration) throws(StoreError) {
        try waiting(timeout) { () throws(StoreError) in try prepared("BEGIN IMMEDIATE").run() }
    }

    /// Switches the file to WAL mode, in which connections can read while one writes.
    func enterWAL() throws(StoreError) {
        let deadline = ContinuousClock.now + busyTimeout
        while true {
            do throws(StoreError) {
                return try execute("PRAGMA journal_mode = WAL")
            } catch {
                guard error.isBusy, ContinuousClock.now < deadline else { throw error }
                // While another process switches the same new file, SQLite fails without waiting for the busy timeout.
                sqlite3_sleep(5)
            }
        }
    }

    /// Returns the statement for `sql`, prepared once. The caller resets it before the next call with the same literal.
    package func prepared(_ sql: StaticString) throws(StoreError) -> Statement {
        let address = UnsafeRawPointer(sql.utf8Start)
        if let statement = statements[address] { return statement }
        do throws(StoreError) {
            let statement = try prepareOnly(UnsafeBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount))
            statements[address] = statement
            return statement
        } catch {
            // The statements are correct, so a table or column is missing.
            throw error.asDamage(from: [SQLITE_ERROR])
        }
    }

    /// Prepares the only statement of a dynamic text. Releasing the statement finalises it.
    package func prepare(_ sql: String) throws(StoreError) -> Statement {
        var sql = sql
        // `withUTF8` rethrows, and would lose the type of the error.
        return try sql.withUTF8 { text in
            Result { () throws(StoreError) in try prepareOnly(text) }
        }.get()
    }

    private func prepareOnly(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Statement {
        let (first, rest) = try prepareFirst(text)
        guard let first else {
            throw .index(SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is no statement in the text"))
        }
        guard try prepareFirst(rest).statement == nil else {
            throw .index(
                SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is more than one statement in the text"))
        }
        return first
    }

    /// The first statement of a text, or `nil` if there are only spaces and comments, and the text after it.
    private func prepareFirst(
        _ text: UnsafeBufferPointer<UInt8>
    ) throws(StoreError) -> (statement: Statement?, rest: UnsafeBufferPointer<UInt8>) {
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

    /// Runs statements without parameters, and discards their rows.
    package func execute(_ sql: String) throws(StoreError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw error(result, sql: sql) }
    }

    /// Runs VACUUM, which rewrites the whole file. `PRAGMA secure_delete` alone is not enough: split or joined pages
    /// keep copies of deleted cells in their unused space.
    func rewrite() throws(StoreError) {
        // The new file is as large as the index, which may exceed the memory.
        try execute("PRAGMA temp_store = FILE")
        defer { _ = try? execute("PRAGMA temp_store = MEMORY") }
        try execute("VACUUM")
    }

    // MARK: The WAL

    /// Makes commits count the pages of the WAL instead of running checkpoints.
    func leaveCheckpointsToOthers() {
        sqlite3_wal_hook(
            handle,
            { pages, _, _, count in
                pages?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, walPages)
    }

    /// The number of pages in the WAL after the last commit of this connection, including those of other connections.
    var walPageCount: Int { Int(walPages.pointee) }

    /// Reads from one snapshot of the index until ``endReading()``. Until then, no connection can restart the WAL.
    package func beginReading() throws(StoreError) {
        // BEGIN alone takes no snapshot: SQLite takes it with the first read.
        try execute("BEGIN; PRAGMA schema_version")
    }

    package func endReading() {
        _ = try? execute("ROLLBACK")
    }

    /// Copies as much of the WAL into the database as readers allow. Returns the number of remaining pages. Returns
    /// `nil` while another connection runs a checkpoint.
    func checkpoint() throws(StoreError) -> Int? {
        // SQLite opens the WAL with the first read.
        try execute("PRAGMA schema_version")
        // PASSIVE blocks neither readers nor writers. The other modes take the write lock.
        return try checkpoint(SQLITE_CHECKPOINT_PASSIVE, within: .zero)
    }

    /// Copies the WAL into the database: the next transaction overwrites its beginning. `false` if readers still need
    /// the WAL. Waits up to `timeout` for writers, checkpointers and readers; waiting for readers blocks all writers.
    @discardableResult
    func restartWAL(within timeout: Duration) throws(StoreError) -> Bool {
        try waiting(timeout) { () throws(StoreError) in
            // RESTART and not TRUNCATE, because the next transactions would have to grow the file again.
            try checkpoint(SQLITE_CHECKPOINT_RESTART, within: timeout) == 0
        }
    }

    /// Copies the WAL into the database and truncates its file. Returns `false` if readers still need the WAL.
    func truncateWAL() throws(StoreError) -> Bool {
        try checkpoint(SQLITE_CHECKPOINT_TRUNCATE, within: busyTimeout) == 0
    }

    private func checkpoint(_ mode: Int32, within timeout: Duration) throws(StoreError) -> Int? {
        let deadline = ContinuousClock.now + timeout
        while true {
            var (pageCount, copiedCount) = (Int32(0), Int32(0))
            let result = sqlite3_wal_checkpoint_v2(handle, "main", mode, &pageCount, &copiedCount)
            if result == SQLITE_OK { return Int(pageCount - copiedCount) }
            let error = error(result, sql: nil)
            guard error.isBusy else { throw error }
            // SQLite waits for readers, but not for other checkpointers.
            guard ContinuousClock.now < deadline else { return nil }
            sqlite3_sleep(1)
        }
    }

    /// The texts of the statements that the connection keeps.
    package var preparedSQL: [String] { statements.values.map(\.sql) }

    /// Bounds the memory and the duration of each step of a query from outside. A time limit applies only between
    /// steps. Half a MiB is enough for every column of an entry, and a row of 128 columns has at most 64 MiB. The
    /// ``QueryAuthorizer`` bounds the function calls. SQLite sorts in files beyond the size of the cache. LIKE takes
    /// time in proportion to the lengths of the pattern and the text.
    func boundQueries() throws(StoreError) {
        limitLength(to: 512 << 10)
        sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 128)
        sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
        try execute("PRAGMA temp_store = FILE")
    }

    /// The virtual-machine steps of the kept statements: their cost, independent of the load of the system.
    package var stepCount: Int64 { statements.values.reduce(0) { $0 + $1.stepCount } }

    /// Makes SQLite refuse longer texts and blobs.
    package func limitLength(to byteCount: Int32) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, byteCount)
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed itself, without its triggers.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    /// The number of rows written since the connection was opened, including those of triggers.
    package var rowsWritten: Int64 { sqlite3_total_changes64(handle) }

    /// The number of pages written since the connection was opened. In WAL mode, they are written to the WAL.
    package var pagesWritten: Int64 {
        var (pages, peak): (Int32, Int32) = (0, 0)
        guard sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 0) == SQLITE_OK else { return 0 }
        return Int64(UInt32(bitPattern: pages))
    }

    /// Whether a transaction is open. SQLite ends a transaction by itself on errors such as a full disk.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Returns the error of the last call on this connection, which returned `result`.
    func error(_ result: Int32, sql: String?) -> StoreError {
        StoreError(SQLiteError(handle: handle, result: result, sql: sql), path: path)
    }
}

extension UnsafePointer<CChar>? {
    fileprivate var text: String { map { String(cString: $0) } ?? "" }
}
