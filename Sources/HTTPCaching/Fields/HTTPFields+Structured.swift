internal import HTTPTypes
internal import RawStructuredFieldValues

// RFC 9651: fields with a grammar of their own, which is strict: one error, and the whole field counts as absent.
extension HTTPFields {
    /// The longest structured field that is read, all its lines together, in bytes.
    static let maxStructuredByteCount = 32_768

    /// How many commas and semicolons a structured field may have: the parser looks for the earlier member, or the earlier
    /// parameter, of each name one by one, so the work grows with the square of this.
    static let maxStructuredSeparatorCount = 1024

    /// The members of the field `name`, in lower case, as a List; `nil` when it is absent, empty or malformed.
    func structuredList(named name: String) -> [ItemOrInnerList]? {
        guard let bytes = structuredBytes(named: name) else { return nil }
        var parser = StructuredFieldValueParser(bytes)
        guard let members = try? parser.parseListFieldValue(), !members.isEmpty else { return nil }
        return members
    }

    /// The members of the field `name`, in lower case, as a Dictionary; `nil` when it is absent, empty or malformed.
    func structuredDictionary(named name: String) -> OrderedMap<String, ItemOrInnerList>? {
        guard let bytes = structuredBytes(named: name) else { return nil }
        var parser = StructuredFieldValueParser(bytes)
        guard let members = try? parser.parseDictionaryFieldValue(), !members.isEmpty else { return nil }
        return members
    }

    /// RFC 9651 §4.2: all lines are combined into one before they are parsed, an empty one with its comma, too.
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
    /// The value, if it is an item; parameters are ignored.
    var bareItem: RFC9651BareItem? {
        guard case .item(let item) = self else { return nil }
        return item.rfc9651BareItem
    }

    /// The string, if it is one.
    var string: String? {
        guard case .string(let string) = bareItem else { return nil }
        return string
    }

    /// The strings, if it is an inner list of nothing else.
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
