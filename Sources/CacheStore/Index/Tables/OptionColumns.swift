internal import CacheFoundation

/// Binds and reads the columns `session`, `is_pinned` and `tags` of `entry`, and the columns that hold names.
extension Statement {
    /// Binds three parameters from `index` on: 1 for a session entry, 1 for a pinned entry, and the tags as a JSON
    /// array. NULL leaves an option unchanged.
    func bind(_ options: EntryOptions, from index: Int32) {
        bind(options.lifetime.map { $0 == .session ? 1 : 0 } as Int64?, at: index)
        bind(options.isPinned.map { $0 ? 1 : 0 } as Int64?, at: index + 1)
        // Sorted, because a trigger compares the texts: equal sets must not rewrite the rows of `tag`.
        bind(options.tags.map { $0.isEmpty ? "[]" : Self.json($0.sorted()) }, at: index + 2)
    }

    /// Reads three columns: the session with which the entry ends, whether the entry is pinned, and its tags.
    func options(_ column: Int32) -> EntryOptions {
        EntryOptions(
            lifetime: isNull(column) ? .permanent : .session, isPinned: int64(column + 1) != 0,
            tags: Set(names(column + 2)))
    }

    /// Binds a JSON array of the names, or NULL for no names.
    func bind(names: [String], at index: Int32) {
        bind(names.isEmpty ? nil : Self.json(names), at: index)
    }

    /// Reads a JSON array of names. Returns no names if an edited row contains anything else.
    func names(_ column: Int32) -> [String] {
        isNull(column) ? [] : (try? JSONDecoder().decode([String].self, from: Data(textBytes(column)))) ?? []
    }

    private static func json(_ names: [String]) -> String {
        let data = try? JSONEncoder().encode(names)
        return String(decoding: data ?? Data("[]".utf8), as: UTF8.self)
    }
}
