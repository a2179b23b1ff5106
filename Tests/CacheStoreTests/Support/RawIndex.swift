import CSQLite

/// The index through SQLite's own interface, as another program sees it.
final class RawIndex {
    struct Failure: Error {
        let code: Int32
        let message: String
    }

    private let handle: OpaquePointer

    /// - Parameter busyTimeout: The time that a statement waits for a lock, in milliseconds.
    init(_ path: String, busyTimeout: Int32 = 10_000) throws {
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard result == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw Failure(code: result, message: path)
        }
        handle = opened
        sqlite3_busy_timeout(handle, busyTimeout)
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw Failure(code: result, message: String(cString: sqlite3_errmsg(handle))) }
    }

    /// The rows of a query as text, with `nil` for NULL.
    func rows(_ sql: String) throws -> [[String?]] {
        var statement: OpaquePointer?
        let result = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard result == SQLITE_OK else { throw Failure(code: result, message: String(cString: sqlite3_errmsg(handle))) }
        defer { sqlite3_finalize(statement) }
        var rows: [[String?]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) }
                })
        }
        return rows
    }

    func value(_ sql: String) throws -> String? { try rows(sql).first?.first ?? nil }
}
