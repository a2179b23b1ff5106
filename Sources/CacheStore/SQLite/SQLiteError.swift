internal import CSQLite

/// A call of SQLite that failed.
public struct SQLiteError: Error, Hashable, Sendable {
    /// The primary result code, such as 13 for `SQLITE_FULL`.
    public let code: Int32
    /// The extended result code, such as 778 for `SQLITE_IOERR_WRITE`.
    public let extendedCode: Int32
    /// The message of the connection at the time.
    public let message: String
    /// The failed statement, or `nil` for other calls.
    public let sql: String?

    /// The primary code is the low byte of the extended one: 779 & 0xff = 11, `SQLITE_CORRUPT`.
    init(extendedCode: Int32, message: String, sql: String? = nil) {
        code = extendedCode & 0xff
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// Takes code and message from `handle`. The next call on it overwrites both, so create the error first.
    init(handle: OpaquePointer?, result: Int32, sql: String? = nil) {
        let extended = sqlite3_extended_errcode(handle)
        // After a ROLLBACK, the connection has no error any more. Only the result of the failed call is left.
        let code = extended & 0xff == result & 0xff ? extended : result
        let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
        self.init(extendedCode: code, message: message, sql: sql)
    }

    /// Creates the error for a statement that would write where only queries may run.
    init(readOnlyRefuses sql: String) {
        self.init(extendedCode: SQLITE_READONLY, message: "only queries can be run here", sql: sql)
    }

    /// Whether the file is damaged.
    var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Whether the statement caused the error, and not the file.
    package var isAboutStatement: Bool {
        [SQLITE_ERROR, SQLITE_READONLY, SQLITE_TOOBIG, SQLITE_MISUSE, SQLITE_RANGE, SQLITE_AUTH].contains(code)
    }

    /// Whether the disk had no room. SQLite reports this code for writes, and an I/O error for other calls.
    var isFull: Bool { code == SQLITE_FULL }

    /// Whether the database, its WAL or its WAL-index cannot be opened. SQLite opens the WAL with the permissions of
    /// the database file. If the database was renamed since it was opened, SQLite reports `SQLITE_IOERR_FSTAT`.
    var isCannotOpen: Bool { code == SQLITE_CANTOPEN || extendedCode == SQLITE_IOERR | (7 << 8) }

    /// Whether a flag or a time limit has ended the statement.
    var isInterruption: Bool { code == SQLITE_INTERRUPT }

    /// Whether another connection holds a required lock.
    var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
}

extension SQLiteError: CustomStringConvertible {
    /// Code, message and statement.
    public var description: String {
        "SQLite error \(extendedCode): \(message)" + (sql.map { " in: \($0)" } ?? "")
    }
}
