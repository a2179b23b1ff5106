internal import CSQLite

extension Connection {
    /// Calls `body`, in which SQLite prepares only queries that read the views. `body` may prepare SQL from outside.
    /// Step the statement in `body`, too: after a change of the schema, SQLite prepares it again and asks the
    /// authorizer again. A statement that names tables itself cannot be prepared in `body`. To embed SQL from outside
    /// in such a statement, first prepare that SQL alone in `body`. A statement that is not allowed throws
    /// `SQLITE_AUTH`, whose message names the views.
    package func authorizingQueries<Value>(
        _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let authorizer = QueryAuthorizer(
            views: try names(ofType: "view").filter { $0.hasPrefix("cache_") }, tables: try names(ofType: "table"))
        // The first use of a table-valued function declares its columns, for which SQLite asks to write sqlite_schema.
        for function in QueryAuthorizer.tableValuedFunctions { _ = try? prepare("SELECT 1 FROM \(function)('[]')") }
        setAuthorizer(authorizer)
        defer { withExtendedLifetime(authorizer) { setAuthorizer(nil) } }
        do throws(StoreError) {
            return try body()
        } catch {
            guard let refusal = authorizer.refusal, case .index(let cause) = error else { throw error }
            throw .index(SQLiteError(extendedCode: SQLITE_AUTH, message: refusal, sql: cause.sql))
        }
    }

    private func names(ofType type: String) throws(StoreError) -> Set<String> {
        let statement = try prepare("SELECT lower(name) FROM sqlite_schema WHERE type = ?1")
        statement.bind(type, at: 1)
        var names: Set<String> = []
        while try statement.step() { names.insert(statement.text(0)) }
        return names
    }
}

/// Decides about each action of a statement that SQLite prepares (https://sqlite.org/c3ref/set_authorizer.html). Allows
/// SELECT on the views and denies everything else, for two reasons. A statement may affect the whole process:
/// `PRAGMA hard_heap_limit` takes effect for every connection while SQLite prepares it. And the tables can change
/// freely while no query names them. Hiding the tables from the owner of the index is not a goal, and SQLite leaves two
/// gaps. It reports a common table expression with the name of a view as if it were the view. It reports a flattened
/// view as its tables, so a statement may count the rows of a table that its views read.
final class QueryAuthorizer {
    /// SQLite's harmless table-valued functions.
    static let tableValuedFunctions = ["json_each", "json_tree"]

    /// The table sqlite_schema lists the views. SQLite also reports its old name.
    private static let readableTables = Set(tableValuedFunctions + ["sqlite_schema", "sqlite_master"])

    /// Functions of SQLite, its extensions and its shell with side effects.
    private static let deniedFunctions: Set = [
        "load_extension", "fts3_tokenizer", "icu_load_collation", "sqlite_log", "readfile", "writefile", "edit",
    ]

    /// The most function calls in a statement, besides those in views. SQLite may keep the results of all calls of a
    /// statement in memory, each as long as ``Connection/boundQueries()`` allows. `sqlite3_hard_heap_limit64` bounds
    /// the whole process, and only while SQLite counts its memory.
    static let maxCallCount = 128

    /// The reason of the first denial, or `nil`.
    private(set) var refusal: String?

    /// The names in lower case, because SQLite ignores their case.
    private let views: Set<String>
    private let tables: Set<String>
    private var tablesBehindViews: Set<String> = []
    private var callCount = 0

    init(views: Set<String>, tables: Set<String>) {
        self.views = views
        self.tables = tables
    }

    /// Returns `SQLITE_OK` or `SQLITE_DENY`. `first` is the table of a `SQLITE_READ` or the name of a `SQLITE_PRAGMA`.
    /// `second` is the column of a `SQLITE_READ` or the name of a `SQLITE_FUNCTION`. `view` is the innermost view of
    /// the action, as the statement spells it, and empty outside views.
    func decision(on action: Int32, _ first: String, _ second: String, in view: String) -> Int32 {
        let isAllowed =
            switch action {
            case SQLITE_SELECT, SQLITE_RECURSIVE: true
            case SQLITE_FUNCTION: allowsCalling(second.lowercased(), in: view.lowercased())
            case SQLITE_READ: allowsReading(second, of: first.lowercased(), in: view.lowercased())
            default: false
            }
        if isAllowed { return SQLITE_OK }
        if refusal == nil { refusal = reason(for: action, first, second) }
        return SQLITE_DENY
    }

    private func allowsCalling(_ function: String, in view: String) -> Bool {
        if !views.contains(view) { callCount += 1 }
        return callCount <= Self.maxCallCount && !Self.deniedFunctions.contains(function)
    }

    private func allowsReading(_ column: String, of table: String, in view: String) -> Bool {
        if views.contains(view) {
            tablesBehindViews.insert(table)
            return true
        }
        if views.contains(table) || Self.readableTables.contains(table) { return true }
        // The column is empty if a statement only counts rows: of a common table expression, or of a table that has
        // replaced its view (https://sqlite.org/optoverview.html#subquery_flattening).
        return column.isEmpty && (!tables.contains(table) || tablesBehindViews.contains(table))
    }

    private func reason(for action: Int32, _ first: String, _ second: String) -> String {
        let refused =
            switch action {
            case SQLITE_READ: "the table \(first)"
            case SQLITE_FUNCTION where callCount > Self.maxCallCount: "more than \(Self.maxCallCount) function calls"
            case SQLITE_FUNCTION: "the function \(second)"
            case SQLITE_PRAGMA: "PRAGMA \(first)"
            case SQLITE_ATTACH: "ATTACH"
            default: "anything but a SELECT"
            }
        return "a query cannot use \(refused); it can read the views \(views.sorted().joined(separator: ", "))"
    }
}
