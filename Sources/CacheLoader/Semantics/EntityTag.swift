package import HTTPTypes

/// An entity-tag: bytes that an origin gave to one state of a resource (RFC 9110 §8.8.3).
///
/// They are never interpreted, unescaped or mended; a tag without its quotes is compared as it is.
package struct EntityTag: Hashable, Sendable {
    /// Whether it begins with `W/`, in capitals.
    package let isWeak: Bool

    /// All that comes after `W/`, quotes included.
    private let opaque: [UInt8]

    /// The first `ETag` of a response; `nil` when there is none, or nothing in it.
    package init?(_ fields: HTTPFields) {
        guard let field = fields.first(where: { $0.name == .eTag }) else { return nil }
        let bytes = field.withUnsafeBytesOfValue { Array($0.trimmed) }
        guard !bytes.isEmpty else { return nil }
        isWeak = bytes.starts(with: "W/".utf8)
        opaque = isWeak ? Array(bytes.dropFirst(2)) : bytes
    }

    /// RFC 9110 §8.8.3.2: "two entity tags are equivalent if both are not weak and their opaque-tags match
    /// character-by-character".
    package func isStronglyEqual(to other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// RFC 9110 §8.8.3.2: equivalent "if their opaque-tags match character-by-character, regardless of either or both being
    /// tagged as 'weak'".
    package func isWeaklyEqual(to other: EntityTag) -> Bool {
        opaque == other.opaque
    }
}
