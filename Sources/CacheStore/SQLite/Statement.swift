internal import CSQLite
internal import CacheFoundation

/// A prepared statement of one connection. The owner of the connection uses the statement, one run at a time: bind,
/// step to the end or as far as needed, reset. Parameters count from 1 and columns from 0, as in SQLite.
package final class Statement {
    private let handle: OpaquePointer
    private unowned let connection: Connection
    /// The result of the first failed bind, which the next step throws.
    private var failedBind = SQLITE_OK

    init(handle: OpaquePointer, connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs to the next row; returns `false` after the last.
    package func step() throws(StoreError) -> Bool {
        guard failedBind == SQLITE_OK else {
            throw .index(
                SQLiteError(extendedCode: failedBind, message: String(cString: sqlite3_errstr(failedBind)), sql: sql))
        }
        return switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let result:
            throw connection.error(result, sql: sql)
        }
    }

    /// Runs a statement that returns no rows, and makes it ready for the next run.
    package func run() throws(StoreError) {
        defer { reset() }
        while try step() {}
    }

    /// Returns the first column of the first row, or 0 without a row, and resets the statement.
    func integer() throws(StoreError) -> Int64 {
        defer { reset() }
        return try step() ? int64(0) : 0
    }

    /// Runs to the end, collects the first column, and makes the statement ready for the next run.
    package func integers() throws(StoreError) -> [Int64] {
        defer { reset() }
        var integers: [Int64] = []
        while try step() { integers.append(int64(0)) }
        return integers
    }

    /// Ends the run. Releases the snapshot and all bound values.
    package func reset() {
        // The result repeats the error of the last step, which was already thrown.
        _ = sqlite3_reset(handle)
        // A kept statement would otherwise hold copies of a key and a head until its next run.
        _ = sqlite3_clear_bindings(handle)
        failedBind = SQLITE_OK
    }

    /// The number of virtual-machine steps so far.
    var stepCount: Int64 { Int64(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0)) }

    /// Whether a run leaves the file as it is.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }
    var sql: String { String(cString: sqlite3_sql(handle)) }
    var columnCount: Int { Int(sqlite3_column_count(handle)) }
    func columnName(_ column: Int) -> String { String(cString: sqlite3_column_name(handle, Int32(column))) }

    // MARK: Parameters

    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

    func bind(value: SQLValue, at index: Int32) {
        switch value {
        case .null: check(sqlite3_bind_null(handle, index))
        case .integer(let integer): bind(integer, at: index)
        case .real(let real): check(sqlite3_bind_double(handle, index, real))
        case .text(let text): bind(text, at: index)
        case .blob(let bytes):
            bytes.withUnsafeBytes { bind($0, at: index) }
        }
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        // Avoid a null pointer, which would bind NULL.
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return check(sqlite3_bind_zeroblob(handle, index, 0))
        }
        check(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), csqlite_transient()))
    }

    package func bind(_ value: Int64?, at index: Int32) {
        guard let value else { return check(sqlite3_bind_null(handle, index)) }
        check(sqlite3_bind_int64(handle, index, value))
    }

    package func bind(_ text: String?, at index: Int32) {
        guard var text else { return check(sqlite3_bind_null(handle, index)) }
        text.withUTF8 { bindText($0, at: index) }
    }

    /// Binds bytes as TEXT. SQLite stores them unchanged, valid UTF-8 or not.
    package func bind(textBytes bytes: [UInt8], at index: Int32) {
        bytes.withUnsafeBufferPointer { bindText($0, at: index) }
    }

    func bind(_ digest: ContentDigest?, at index: Int32) {
        guard let digest else { return check(sqlite3_bind_null(handle, index)) }
        digest.withUnsafeBytes { bytes in
            check(sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), csqlite_transient()))
        }
    }

    private func bindText(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int32) {
        bytes.withMemoryRebound(to: CChar.self) { characters in
            // A null pointer would bind NULL.
            guard let start = characters.baseAddress else {
                return check(sqlite3_bind_text(handle, index, "", 0, csqlite_static()))
            }
            check(
                sqlite3_bind_text64(
                    handle, index, start, UInt64(characters.count), csqlite_transient(), UInt8(SQLITE_UTF8)))
        }
    }

    /// Records a failed bind: too big a value, or no memory. The parameter stays NULL, so the statement must not run.
    private func check(_ result: Int32) {
        precondition(result != SQLITE_RANGE && result != SQLITE_MISUSE, "there is no such parameter now in: \(sql)")
        if failedBind == SQLITE_OK { failedBind = result }
    }

    // MARK: Columns of the current row

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    /// Returns an integer clamped to the range of `Int`, which has 32 bits on some watches.
    func int(_ column: Int32) -> Int { Int(clamping: int64(column)) }
    func int64OrNil(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    package func text(_ column: Int32) -> String {
        String(decoding: textBuffer(column), as: UTF8.self)
    }

    func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// The bytes of a TEXT, exactly as they were bound.
    package func textBytes(_ column: Int32) -> [UInt8] { Array(textBuffer(column)) }

    /// Returns the digest. Returns `nil` for NULL, and for a value that is not 32 bytes long.
    package func digest(_ column: Int32) -> ContentDigest? {
        ContentDigest(blobBuffer(column))
    }

    /// A copy of the bytes of a BLOB.
    func data(_ column: Int32) -> Data { Data(blobBuffer(column)) }

    private func textBuffer(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        // Keep this order: sqlite3_column_bytes returns the length of the text that sqlite3_column_text has converted.
        let start = sqlite3_column_text(handle, column)
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// Returns the value of a column of any type.
    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(int64(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    private func blob(_ column: Int32) -> [UInt8] { Array(blobBuffer(column)) }

    /// Returns the bytes of a column, or no bytes for NULL.
    private func blobBuffer(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }
}
