internal import HTTPTypes

extension HTTPFields {
    /// Replaces the fields that `newer` has, too, and adds its others (RFC 9111 §3.2, §3.4).
    ///
    /// `Vary` only grows. An origin that names fewer fields in a 304 or a 206 still selects by all of them: the stored
    /// content would answer for the other variants.
    ///
    /// - Parameters:
    ///   - newer: The fields of the newer response.
    ///   - excluded: The names of fields that stay, in lower case.
    mutating func update(with newer: HTTPFields, except excluded: Set<String>) {
        let forgotten = Set(varyNames).subtracting(newer.varyNames)
        var handled = excluded
        for field in newer where handled.insert(field.name.canonicalName).inserted {
            self[fields: field.name] = newer[fields: field.name]
        }
        if newer.contains(.vary), !forgotten.isEmpty {
            append(HTTPField(name: .vary, value: forgotten.sorted().joined(separator: ", ")))
        }
    }

    /// The names in `Vary`, in lower case; those of a malformed line are unknown.
    private var varyNames: [String] {
        filter { $0.name == .vary }.flatMap { $0.withUnsafeBytesOfValue(\.lowercasedTokens) ?? [] }
    }
}
