internal import RawStructuredFieldValues

// RFC 9651: structured fields have a strict grammar. After one error the whole field counts as absent.
extension HTTPFields {
    /// The most bytes of a structured field, over all its lines. A larger field counts as absent.
    static let maxStructuredByteCount = 32_768

    /// The most commas and semicolons in a structured field. The parser searches linearly for an earlier member or
    /// parameter of the same name. So the work grows with the square of this number.
    static let maxStructuredSeparatorCount = 1024

    /// Parses the field `name`, in lower case, as a List. Returns `nil` for an absent, empty or malformed field.
    func structuredList(named name: String) -> [ItemOrInnerList]? {
        guard let bytes = structuredBytes(named: name) else { return nil }
        var parser = StructuredFieldValueParser(bytes)
        guard let members = try? parser.parseListFieldValue(), !members.isEmpty else { return nil }
        return members
    }

    /// Parses the field `name`, in lower case, as a Dictionary. Returns `nil` for an absent, empty or malformed field.
    func structuredDictionary(named name: String) -> OrderedMap<String, ItemOrInnerList>? {
        guard let bytes = structuredBytes(named: name) else { return nil }
        var parser = StructuredFieldValueParser(bytes)
        guard let members = try? parser.parseDictionaryFieldValue(), !members.isEmpty else { return nil }
        return members
    }

    /// Combines all lines of the field before parsing, including empty lines with their commas (RFC 9651 §4.2).
    private func structuredBytes(named name: String) -> [UInt8]? {
        var combined: [UInt8]?
        var separators = 0
        for field in self where field.name.canonicalName == name {
            let isReadable = field.withUnsafeBytesOfValue { bytes in
                let bytes = bytes.trimmed
                guard (combined?.count ?? 0) + bytes.count + 2 <= Self.maxStructuredByteCount else { return false }
                separators += 1
                for byte in bytes where byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") { separators += 1 }
                guard separators <= Self.maxStructuredSeparatorCount else { return false }
                if combined == nil {
                    combined = Array(bytes)
                } else {
                    combined?.append(contentsOf: ", ".utf8)
                    combined?.append(contentsOf: bytes)
                }
                return true
            }
            guard isReadable else { return nil }
        }
        return combined
    }
}

extension ItemOrInnerList {
    /// The value of an item without its parameters, or `nil` for an inner list.
    var bareItem: RFC9651BareItem? {
        guard case .item(let item) = self else { return nil }
        return item.rfc9651BareItem
    }

    /// The value of a String item, or `nil` for any other member.
    var string: String? {
        guard case .string(let string) = bareItem else { return nil }
        return string
    }

    /// The values of an inner list of Strings, or `nil` for any other member.
    var strings: [String]? {
        guard case .innerList(let list) = self else { return nil }
        var strings: [String] = []
        for item in list.bareInnerList {
            guard case .string(let string) = item.rfc9651BareItem else { return nil }
            strings.append(string)
        }
        return strings
    }
}
