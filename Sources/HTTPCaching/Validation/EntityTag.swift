/// An entity tag: an origin's opaque validator for one state of a resource (RFC 9110 §8.8.3). Compares bytes. Accepts a
/// tag without quotes, because servers that send such tags compare them the same way. A tag repaired by a transport
/// equals no tag, not even itself.
package struct EntityTag: Hashable, Sendable {
    /// The whole tag, with `W/` and quotes.
    package let bytes: [UInt8]

    /// Whether the tag begins with `W/`, in upper case.
    package let isWeak: Bool

    /// Creates a tag without whitespace at its ends, or `nil` for blank bytes.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(bytes.trimmed)
        guard !bytes.isEmpty else { return nil }
        isWeak = bytes.starts(with: "W/".utf8)
        self.bytes = bytes
    }

    /// Reads the first `ETag`. Returns `nil` without a tag, for `*`, and for a tag that a transport has repaired. As a
    /// condition, `*` would match every state of the resource, and the origin would validate all of them. The origin
    /// never sent a repaired tag.
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
