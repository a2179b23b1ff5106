internal import RawStructuredFieldValues

/// The groups of a response, from its `Cache-Groups` (RFC 9875). A name is opaque, compares byte by byte, and is
/// meaningful only among responses of one origin (§2.1).
package struct CacheGroups: Hashable, Sendable {
    /// The names without duplicates, in the order of the field.
    package let names: [String]

    /// The most groups of one field. Ignores further groups. RFC 9875 §2 requires at least 32.
    package static let maxCount = 64

    /// The most bytes of a name. Ignores longer names. RFC 9875 §2 requires at least 32.
    static let maxNameByteCount = 256

    /// Reads the groups of a response. Empty for a field that is absent or not a List of Strings.
    package init(_ fields: HTTPFields) {
        names = Self.names(inField: "cache-groups", of: fields)
    }

    /// Returns the groups that a response invalidates, from its `Cache-Group-Invalidation` (§3). The names refer only
    /// to groups of the response's origin. An invalidated response does not invalidate its groups in turn (§2.2.1). A
    /// safe method invalidates nothing, because then the field "MUST be ignored".
    package static func invalidated(by fields: HTTPFields, method: HTTPRequest.Method) -> [String] {
        method.isSafe ? [] : names(inField: "cache-group-invalidation", of: fields)
    }

    /// Ignores parameters (§2).
    private static func names(inField name: String, of fields: HTTPFields) -> [String] {
        guard let members = fields.structuredList(named: name) else { return [] }
        var names: [String] = []
        var seen: Set<String> = []
        for member in members {
            // A member of another type changes the type of the field, so the cache ignores the field (RFC 9651 §1.1).
            guard let name = member.string else { return [] }
            guard names.count < maxCount, name.utf8.count <= maxNameByteCount else { continue }
            if seen.insert(name).inserted { names.append(name) }
        }
        return names
    }
}
