import CacheStore
import Foundation

/// Explains why SQLite refused the SQL of the command line, and suggests the closest name for a misspelt one.
struct SQLProblem {
    private static let keywords = [
        "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "LIMIT", "OFFSET", "VALUES", "WITH", "RECURSIVE",
        "JOIN", "LEFT", "DISTINCT", "BETWEEN", "LIKE", "DESC", "UNION", "EXPLAIN",
    ]
    private static let functions = [
        "abs", "avg", "coalesce", "count", "date", "datetime", "group_concat", "hex", "ifnull", "iif", "instr",
        "json_array_length", "json_each", "json_extract", "julianday", "length", "lower", "max", "min", "nullif",
        "printf",
        "replace", "round", "strftime", "substr", "sum", "time", "total", "trim", "typeof", "unixepoch", "upper",
    ]

    private let error: SQLiteError
    private let directory: URL

    /// Returns `nil` for an error about the index instead of the SQL.
    init?(_ error: StoreError, in directory: URL) {
        guard case .index(let error) = error, error.isAboutStatement else { return nil }
        self.error = error
        self.directory = directory
    }

    var message: String {
        let message = "the SQL cannot be run: \(error.message)"
        guard let suggestion else { return message }
        return "\(message); did you mean \(suggestion)?"
    }

    private var suggestion: String? {
        if let name = name(after: "no such column: ") { return name.nearest(of: columns) }
        if let name = name(after: "no such table: ") { return name.nearest(of: views) }
        if let name = name(after: "no such function: ") { return name.nearest(of: Self.functions) }
        if let word = error.message.firstMatch(of: /^near "(\w+)": syntax error/) {
            // A misplaced keyword is not misspelt.
            return Self.keywords.contains(word.1.uppercased()) ? nil : String(word.1).nearest(of: Self.keywords)
        }
        return nil
    }

    /// Returns the name at the end of the message, without its table.
    private func name(after beginning: String) -> String? {
        guard error.message.hasPrefix(beginning) else { return nil }
        return error.message.dropFirst(beginning.count).split(separator: ".").last.map(String.init)
    }

    private var views: [String] {
        let rows = try? ResponseStore.query("SELECT name FROM sqlite_schema WHERE type = 'view'", inStoreAt: directory)
        return rows?.rows.compactMap(\.first?.text) ?? []
    }

    private var columns: [String] {
        views.flatMap { view in
            (try? ResponseStore.query("SELECT * FROM \(view) LIMIT 0", inStoreAt: directory).columns) ?? []
        }
    }
}
