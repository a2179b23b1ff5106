extension HTTPFields {
    /// Replaces and adds the fields of `newer` (RFC 9111 §3.2, §3.4). `Vary` only grows. An origin that names fewer
    /// fields in a 304 or a 206 still selects by all of them. Dropping a name would let the stored content answer for
    /// other variants. The names `excluded` are in lower case.
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

    /// The names in `Vary`, in lower case. Ignores malformed lines.
    private var varyNames: [String] {
        filter { $0.name == .vary }.flatMap { $0.withUnsafeBytesOfValue(\.lowercasedTokens) ?? [] }
    }
}
