package import HTTPTypes

/// An entity tag: an opaque validator that an origin gives to one state of a resource (RFC 9110 §8.8.3).
///
/// Compares the bytes without interpretation. Accepts a tag without its quotes: servers that send such tags compare
/// them in the same way. A tag that a transport has repaired equals no tag, not even itself.
package struct EntityTag: Hashable, Sendable {
    /// The whole tag, with `W/` and quotes.
    package let bytes: [UInt8]

    /// Whether the tag begins with `W/`, in upper case.
    package let isWeak: Bool

    /// Creates a tag, without whitespace at its ends; `nil` if nothing is left.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(bytes.trimmed)
        guard !bytes.isEmpty else { return nil }
        isWeak = bytes.starts(with: "W/".utf8)
        self.bytes = bytes
    }

    /// Creates the tag of a response from its first `ETag`; `nil` if there is none, for `*`, or if a transport has repaired
    /// it.
    ///
    /// As a condition, `*` would match every state of the resource, and the origin would confirm all of them. A repaired
    /// tag is none of the origin's.
    package init?(_ fields: HTTPFields) {
        guard let field = fields.first(where: { $0.name == .eTag }),
            let tag = field.withUnsafeBytesOfValue({ EntityTag($0) }), !tag.isAny, !tag.bytes.isRepaired
        else { return nil }
        self = tag
    }

    /// RFC 9110 §8.8.3.2: "two entity tags are equivalent if both are not weak and their opaque-tags match
    /// character-by-character".
    package func isStronglyEqual(to other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && bytes == other.bytes && !bytes.isRepaired
    }

    /// RFC 9110 §8.8.3.2: equivalent "if their opaque-tags match character-by-character, regardless of either or both
    /// being tagged as 'weak'".
    package func isWeaklyEqual(to other: EntityTag) -> Bool {
        opaque == other.opaque && !bytes.isRepaired
    }

    /// Whether the tag is `*`, which matches all tags.
    var isAny: Bool { bytes == Array("*".utf8) }

    /// The tag without `W/`.
    private var opaque: ArraySlice<UInt8> { isWeak ? bytes.dropFirst(2) : bytes[...] }
}
