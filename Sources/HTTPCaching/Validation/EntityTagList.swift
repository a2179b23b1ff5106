/// The value of `If-None-Match` over all its lines: `"*" / #entity-tag` (RFC 9110 §13.1.2). An element ends at the next
/// comma outside quotes. A backslash escapes nothing, because an entity-tag is not a quoted-string (§8.8.3). An
/// unclosed quote reaches to the end of its line, because tags that cannot be separated should match nothing.
struct EntityTagList: Sendable {
    /// The elements in order, as sent.
    private(set) var tags: [EntityTag] = []

    /// Whether a quote is unclosed, so that no element can follow.
    private(set) var isUnterminated = false

    /// Whether the value is exactly `*`. Inside a list, `*` is a tag like any other.
    var isAny: Bool { tags.count == 1 && tags[0].isAny }

    /// Adds the elements of another line.
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

    /// Adds the missing tags. Omits a tag that would not survive parsing the list.
    mutating func append(_ others: some Sequence<EntityTag>) {
        guard !isAny, !isUnterminated else { return }
        var known = Set(tags)
        for tag in others where tag.isListElement && known.insert(tag).inserted { tags.append(tag) }
    }

    /// The list as one line.
    var field: HTTPField {
        HTTPField(name: .ifNoneMatch, lenientValue: Array(tags.map(\.bytes).joined(separator: ", ".utf8)))
    }
}

extension EntityTag {
    /// Whether a list can contain this tag as one element: no comma outside quotes, no open quote, and not `*`.
    fileprivate var isListElement: Bool {
        var isQuoted = false
        for byte in bytes {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted { return false }
        }
        return !isQuoted && !isAny
    }
}
