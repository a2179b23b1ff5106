extension VaryKey {
    /// The lines of the key. Empty when `Vary` nominates no field.
    package var lines: [String] {
        guard !text.isEmpty else { return [] }
        return text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(decoding: line, as: UTF8.self)
        }
    }

    /// Returns the nominated fields that differ in `request`. See ``matches(_:fingerprint:nominatesAuthorization:)``.
    func differences(
        from request: HTTPRequest, fingerprint: Fingerprint, nominatesAuthorization: Bool
    ) -> [Explanation.FieldDifference] {
        var differences: [Explanation.FieldDifference] = []
        func note(_ name: String, _ stored: String?) {
            let present = Self.line(name: name, of: request.headerFields, fingerprint: fingerprint)
            differences.append(
                Explanation.FieldDifference(name: name, stored: stored, present: Self.value(in: present)))
        }
        if nominatesAuthorization, !nominates("authorization"), request.headerFields.contains(.authorization) {
            note("authorization", nil)
        }
        for var line in lines {
            let isMatch = line.withUTF8 { Self.matches($0, request.headerFields, fingerprint: fingerprint) }
            if !isMatch { note(String(line.prefix { $0 != ":" }), Self.value(in: line)) }
        }
        return differences
    }

    /// Returns the value in a line, or `nil` for a name alone, which denotes an absent field.
    package static func value(in line: String) -> String? {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let value = line.utf8[line.utf8.index(after: colon)...]
        return String(Substring(value.first == UInt8(ascii: " ") ? value.dropFirst() : value))
    }
}
