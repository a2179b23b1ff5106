package import HTTPTypes
internal import RawStructuredFieldValues

/// The groups that a response belongs to, by its `Cache-Groups` (RFC 9875).
///
/// A name is opaque and compares byte by byte; it means something only among responses of one origin (§2.1).
package struct CacheGroups: Hashable, Sendable {
    /// The names, each once, in the order of the field.
    package let names: [String]

    /// How many groups one field can name. RFC 9875 §2: at least 32. What comes after them is left out.
    package static let maxCount = 64

    /// The longest name in bytes. RFC 9875 §2: at least 32. A longer one is left out.
    package static let maxNameByteCount = 256

    /// The groups of the response with these fields; none when the field is absent or is not a List of Strings.
    package init(_ fields: HTTPFields) {
        names = Self.names(inField: "cache-groups", of: fields)
    }

    /// The groups that the response to a request with `method` invalidates, by its `Cache-Group-Invalidation` (§3).
    ///
    /// Those of its own origin, and no further: that a response is invalidated so invalidates no groups of its own
    /// (§2.2.1). None if the method is safe, because then the field "MUST be ignored".
    package static func invalidated(by fields: HTTPFields, method: HTTPRequest.Method) -> [String] {
        method.isSafe ? [] : names(inField: "cache-group-invalidation", of: fields)
    }

    /// Parameters are ignored (§2). A member that is no String makes the field one of another type, and so none at all
    /// (RFC 9651 §1.1).
    private static func names(inField name: String, of fields: HTTPFields) -> [String] {
        guard let members = fields.structuredList(named: name) else { return [] }
        var names: [String] = []
        var seen: Set<String> = []
        for member in members {
            guard let name = member.string else { return [] }
            guard names.count < maxCount, name.utf8.count <= maxNameByteCount else { continue }
            if seen.insert(name).inserted { names.append(name) }
        }
        return names
    }
}
