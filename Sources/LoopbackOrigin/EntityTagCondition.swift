/// The value of an `If-None-Match` field.
struct EntityTagCondition {
    private let isAny: Bool
    /// The tags without their quotes and `W/`.
    private let opaqueTags: Set<Substring>

    init(_ value: String) {
        isAny = value.filter { $0 != " " && $0 != "\t" } == "*"
        // A tag may contain a comma (RFC 9110 §8.8.3), so split at quotes: every second part is a tag.
        let parts = value.split(separator: "\"", omittingEmptySubsequences: false)
        opaqueTags = Set(parts.indices.filter { $0 % 2 == 1 && $0 + 1 < parts.count }.map { parts[$0] })
    }

    /// RFC 9110 §8.8.3.2: weak comparison ignores `W/` and compares the opaque tags.
    func matches(_ etag: String?) -> Bool {
        if isAny { return true }
        guard let parts = etag?.split(separator: "\"", omittingEmptySubsequences: false), parts.count == 3 else {
            return false
        }
        return opaqueTags.contains(parts[1])
    }
}
