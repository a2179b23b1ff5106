/// How the value of a request field is written, where that is known.
///
/// Credentials and unknown fields are not here: of those every byte counts.
enum ListSyntax: Hashable {
    /// `#( range [ weight ] )`, where the range is a token in any case (RFC 9110 §12.5.2 to §12.5.4).
    case weightedTokens
    /// `#( media-range [ weight ] )`, with parameters (RFC 9110 §12.5.1).
    case weightedMediaRanges
    /// A list whose elements are not looked into.
    case list

    /// The syntax of the field with this name in lower case; `nil` if it is not known.
    init?(fieldName: String) {
        switch fieldName {
        case "accept-language", "accept-encoding", "accept-charset": self = .weightedTokens
        case "accept": self = .weightedMediaRanges
        case "cache-control", "forwarded", "prefer", "te", "via": self = .list
        default: return nil
        }
    }
}

/// What a field value comes to when it is written in the one way that all its equals share.
///
/// RFC 9111 §4.1 lets two values match after "normalizing both header field values in a way known to have identical
/// semantics according to the header field's specification (e.g., reordering field values when order is not significant;
/// case-normalization, where values are defined to be case-insensitive)". Of a list of ranges that leaves the set of ranges
/// with their weights: §12.5.4 of RFC 9110 says of the order of equal weights that it "cannot be relied upon".
enum NormalizedValue: Hashable {
    case set(Set<WeightedRange>)
    case list([[UInt8]])

    /// Fails on what does not follow the syntax: it has no meaning that could be the same.
    init?(_ bytes: FieldBytes, _ syntax: ListSyntax) {
        switch syntax {
        case .weightedTokens, .weightedMediaRanges:
            guard let ranges = WeightedRange.list(bytes, isMediaRange: syntax == .weightedMediaRanges) else {
                return nil
            }
            self = .set(Set(ranges))
        case .list:
            guard let elements = Self.elements(bytes) else { return nil }
            self = .list(elements)
        }
    }

    /// The elements of a list, without what surrounds its commas; `nil` when a quote is never closed.
    private static func elements(_ bytes: FieldBytes) -> [[UInt8]]? {
        var scanner = FieldScanner(bytes)
        var elements: [[UInt8]] = []
        while scanner.skipToElement() {
            var element: [UInt8] = []
            while let byte = scanner.next, byte != UInt8(ascii: ",") {
                if byte == UInt8(ascii: "\"") {
                    guard let quoted = scanner.quotedString() else { return nil }
                    element += [byte] + Array(quoted) + [byte]
                } else {
                    element.append(byte)
                    scanner.advance()
                }
            }
            while element.last?.isFieldWhitespace == true { element.removeLast() }
            elements.append(element)
        }
        return elements
    }
}
