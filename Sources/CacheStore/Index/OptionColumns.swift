#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The columns `session`, `is_pinned` and `tags` of `entry`.
extension Statement {
    /// Binds three parameters from `index` on, NULL for what is to stay: 1 for a session entry, 1 for a pinned one, and the
    /// tags as a JSON array.
    func bind(_ options: EntryOptions, from index: Int32) {
        bind(options.lifetime.map { $0 == .session ? 1 : 0 } as Int64?, at: index)
        bind(options.isPinned.map { $0 ? 1 : 0 } as Int64?, at: index + 1)
        bind(options.tags.map(Self.json), at: index + 2)
    }

    /// Reads three columns from `column` on: the session that the entry ends with, whether it is pinned, its tags.
    func options(_ column: Int32) -> EntryOptions {
        EntryOptions(
            lifetime: isNull(column) ? .permanent : .session, isPinned: int64(column + 1) != 0,
            tags: isNull(column + 2) ? [] : Self.tags(textBytes(column + 2)))
    }

    private static func json(_ tags: Set<String>) -> String {
        let data = try? JSONEncoder().encode(tags.sorted())
        return String(decoding: data ?? Data("[]".utf8), as: UTF8.self)
    }

    /// None where somebody has edited the row into something else.
    private static func tags(_ json: [UInt8]) -> Set<String> {
        (try? JSONDecoder().decode(Set<String>.self, from: Data(json))) ?? []
    }
}
