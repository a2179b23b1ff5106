/// The syntax of a request field, for fields with a known syntax. Excludes credentials and unknown fields, whose values
/// match only byte for byte.
enum ListSyntax: Hashable {
    /// `#( range [ weight ] )`, where the range is a token in any case (RFC 9110 §12.5.2 to §12.5.4).
    case weightedTokens
    /// `#( media-range [ weight ] )`, with parameters (RFC 9110 §12.5.1).
    case weightedMediaRanges
    /// A list with unparsed elements.
    case list

    /// Finds the syntax of the field with this name in lower case, if known.
    init?(fieldName: String) {
        switch fieldName {
        case "accept-language", "accept-encoding", "accept-charset": self = .weightedTokens
        case "accept": self = .weightedMediaRanges
        case "cache-control", "forwarded", "prefer", "te", "via": self = .list
        default: return nil
        }
    }
}

/// A field value in a normal form that all equivalent values share. RFC 9111 §4.1 lets two values match after
/// "normalizing both header field values in a way known to have identical semantics according to the header field's
/// specification (e.g., reordering field values when order is not significant; case-normalization, where values are
/// defined to be case-insensitive)". The normal form of a list of ranges is the set of ranges with their weights. RFC
/// 9110 §12.5.4 says that the order of equal weights "cannot be relied upon".
enum NormalizedValue: Hashable {
    case set(Set<WeightedRange>)
    case list([[UInt8]])

    /// Fails for a value that violates the syntax, because its meaning is unknown.
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

    /// Returns the elements of a list without the whitespace around commas, or `nil` for an unclosed quote.
    private static func elements(_ bytes: FieldBytes) -> [[UInt8]]? {
        var scanner = FieldScanner(bytes)
        var elements: [[UInt8]] = []
        while scanner.skipToElement() {
            var element: [UInt8] = []
            while let byte = scanner.next, byte != UInt8(ascii: ",") {
                // A comma in a quoted string separates nothing (RFC 9110 §5.6.4).
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
