internal import HTTPTypes

/// The value of an `If-None-Match`, over all its lines: `"*" / #entity-tag` (RFC 9110 §13.1.2).
///
/// An element ends at the next comma outside quotes. A backslash escapes nothing, for an entity-tag is no quoted-string
/// (§8.8.3). A quote that is never closed reaches to the end of its line: what cannot be told apart should match nothing.
struct EntityTagList: Sendable {
    /// The elements in order, as they were sent.
    private(set) var tags: [EntityTag] = []

    /// Whether a quote is never closed, so that nothing can be added behind it.
    private(set) var isUnterminated = false

    /// Whether it is `*`, and nothing else. In a list `*` is a tag like any other.
    var isAny: Bool { tags.count == 1 && tags[0].isAny }

    /// Adds the elements of one more line.
    mutating func combine(_ field: HTTPField) {
        field.withUnsafeBytesOfValue { combine($0) }
    }

    private mutating func combine(_ bytes: FieldBytes) {
        var start = bytes.startIndex
        var isQuoted = false
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                append(bytes[start..<index])
                start = index + 1
            default:
                break
            }
        }
        append(bytes[start...])
        if isQuoted { isUnterminated = true }
    }

    /// RFC 9110 §5.6.1.2: empty elements do not count.
    private mutating func append(_ element: Slice<FieldBytes>) {
        if let tag = EntityTag(FieldBytes(rebasing: element)) { tags.append(tag) }
    }

    /// Adds the tags that are not there yet; not one that would be read back as anything but itself.
    mutating func append(_ others: some Sequence<EntityTag>) {
        guard !isAny, !isUnterminated else { return }
        var known = Set(tags)
        for tag in others where tag.isListElement && known.insert(tag).inserted { tags.append(tag) }
    }

    /// The list in one line.
    var field: HTTPField {
        HTTPField(name: .ifNoneMatch, lenientValue: Array(tags.map(\.bytes).joined(separator: ", ".utf8)))
    }
}

extension EntityTag {
    /// Whether a list with this tag contains this tag and no other: no comma outside quotes, no open quote, and not `*`.
    fileprivate var isListElement: Bool {
        var isQuoted = false
        for byte in bytes {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted { return false }
        }
        return !isQuoted && !isAny
    }
}
