package import HTTPTypes

/// An entity-tag: bytes that an origin gave to one state of a resource (RFC 9110 §8.8.3).
///
/// They are never interpreted, unescaped or mended; a tag without its quotes is compared as it is.
package struct EntityTag: Hashable, Sendable {
    /// All of it, to the letter: `W/` and quotes included.
    package let bytes: [UInt8]

    /// Whether it begins with `W/`, in capitals.
    package let isWeak: Bool

    /// These bytes; `nil` when there are none but whitespace at the ends.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(bytes.trimmed)
        guard !bytes.isEmpty else { return nil }
        isWeak = bytes.starts(with: "W/".utf8)
        self.bytes = bytes
    }

    /// The first `ETag` of a response; `nil` when there is none, or nothing in it.
    package init?(_ fields: HTTPFields) {
        guard let field = fields.first(where: { $0.name == .eTag }),
            let tag = field.withUnsafeBytesOfValue({ EntityTag($0) })
        else { return nil }
        self = tag
    }

    /// RFC 9110 §8.8.3.2: "two entity tags are equivalent if both are not weak and their opaque-tags match
    /// character-by-character".
    package func isStronglyEqual(to other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && bytes == other.bytes
    }

    /// RFC 9110 §8.8.3.2: equivalent "if their opaque-tags match character-by-character, regardless of either or both being
    /// tagged as 'weak'".
    package func isWeaklyEqual(to other: EntityTag) -> Bool {
        opaque == other.opaque
    }

    /// All that comes after `W/`, quotes included.
    private var opaque: ArraySlice<UInt8> { isWeak ? bytes.dropFirst(2) : bytes[...] }
}
