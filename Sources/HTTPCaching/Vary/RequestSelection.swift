package import HTTPTypes

/// What a response's `Vary` nominated in the request that it answered, as text that a person or SQL can read.
///
/// One line for each nominated field, sorted by name:
///
///     accept-encoding: gzip, br
///     accept-language
///     cookie: 5f2b…
///
/// A field that was absent has its name alone; an empty one has `name: ` (RFC 9111 §4.1: absent matches only absent). The
/// lines of a field are combined in order. A value that is not UTF-8 follows its colon without a space,
/// percent-encoded. Of credentials only a fingerprint is kept. Values stand as they were sent; that some mean the same is
/// found out when they are compared.
package struct RequestSelection: Sendable {
    /// The lines, without a line feed after the last. Empty when `Vary` nominates nothing.
    package let text: String

    /// What stands for the value of a field that holds a secret: `(name, value)`, in one line.
    package typealias Fingerprint = (_ name: String, _ value: String) -> String

    /// A selection that was stored.
    package init(text: String) {
        self.text = text
    }

    /// What `response` nominates in `request`, the request as it was sent.
    ///
    /// - Parameter nominatesAuthorization: Whether the credentials of a request that has an `Authorization` count, named
    ///   in `Vary` or not: what one user was answered is then never found for another.
    /// - Returns: `nil` when no other request can match: `Vary` has a `*`, or is not a list of at most ``maxNameCount``
    ///   field names.
    package static func make(
        response: HTTPFields, request: HTTPRequest, fingerprint: Fingerprint, nominatesAuthorization: Bool = false
    ) -> RequestSelection? {
        guard var names = nominatedNames(in: response) else { return nil }
        if nominatesAuthorization, request.hasAuthorization, !names.contains("authorization") {
            names.append("authorization")
            names.sort()
        }
        let lines = names.map { line(name: $0, of: request.headerFields, fingerprint: fingerprint) }
        return RequestSelection(text: lines.joined(separator: "\n"))
    }

    /// Whether `request` has what the nominated fields had: byte for byte but for outer whitespace and the number of lines,
    /// or, for a field whose syntax is known, with the same meaning (see ``NormalizedValue``).
    ///
    /// - Parameter nominatesAuthorization: As for ``make(response:request:fingerprint:nominatesAuthorization:)``: a request
    ///   that has an `Authorization` matches only what the same credentials have selected. One that has none never matches
    ///   what credentials have selected, whatever this says.
    package func matches(
        _ request: HTTPRequest, fingerprint: Fingerprint, nominatesAuthorization: Bool = false
    ) -> Bool {
        matches(request, but: "", fingerprint: fingerprint, nominatesAuthorization: nominatesAuthorization)
    }

    /// As ``matches(_:fingerprint:nominatesAuthorization:)``, but whatever the field `exempt` has.
    func matches(
        _ request: HTTPRequest, but exempt: StaticString, fingerprint: Fingerprint, nominatesAuthorization: Bool
    ) -> Bool {
        if nominatesAuthorization, request.hasAuthorization, !nominates("authorization") { return false }
        return text.isEmpty
            || allLines { line in
                line.isLine(of: exempt) || Self.matches(line, request.headerFields, fingerprint: fingerprint)
            }
    }

    /// Whether the field `name`, in lower case, was nominated.
    func nominates(_ name: StaticString) -> Bool {
        !allLines { !$0.isLine(of: name) }
    }

    private func allLines(satisfy condition: (FieldBytes) -> Bool) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).allSatisfy { line in
                condition(FieldBytes(rebasing: line))
            }
        }
    }

    /// Compares without building the line where it can: nearly every hit on a response with `Vary` ends here.
    static func matches(_ line: FieldBytes, _ fields: HTTPFields, fingerprint: Fingerprint) -> Bool {
        let name = FieldBytes(rebasing: line.prefix { $0 != UInt8(ascii: ":") })
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else { return false }
        let value = line[name.count...]
        var found: HTTPField?
        var isOneLine = true
        for field in fields where field.name.canonicalName.utf8.elementsEqual(name) {
            isOneLine = found == nil
            found = field
        }
        guard let found else { return value.isEmpty }
        let nameText = String(decoding: name, as: UTF8.self)
        let isReadable = value.starts(with: ": ".utf8) && !isSecret(nameText)
        if isReadable, isOneLine, found.withUnsafeBytesOfValue({ $0.trimmed.elementsEqual(value.dropFirst(2)) }) {
            return true
        }
        // By bytes: == on strings takes canonically equivalent characters for equal.
        if Self.line(name: nameText, of: fields, fingerprint: fingerprint).utf8.elementsEqual(line) { return true }
        guard isReadable, let syntax = ListSyntax(fieldName: nameText),
            let combined = combinedValue(of: nameText, in: fields),
            let stored = NormalizedValue(FieldBytes(rebasing: value.dropFirst(2)), syntax)
        else { return false }
        return combined.withUnsafeBufferPointer { NormalizedValue($0, syntax) } == stored
    }
}

extension RequestSelection: Hashable {
    /// Whether both have the same bytes.
    package static func == (lhs: RequestSelection, rhs: RequestSelection) -> Bool {
        lhs.text.utf8.elementsEqual(rhs.text.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension RequestSelection {
    /// More than these are taken for `*`: each costs a search at every lookup.
    package static let maxNameCount = 64

    /// RFC 9110 §12.5.5: `Vary = #( "*" / field-name )`, over all lines.
    private static func nominatedNames(in response: HTTPFields) -> [String]? {
        var names: Set<String> = []
        for field in response where field.name == .vary {
            guard let tokens = field.withUnsafeBytesOfValue(\.lowercasedTokens) else { return nil }
            names.formUnion(tokens)
        }
        guard !names.contains("*"), names.count <= maxNameCount else { return nil }
        return names.sorted()
    }

    static func line(name: String, of fields: HTTPFields, fingerprint: Fingerprint) -> String {
        guard let value = combinedValue(of: name, in: fields) else { return name }
        let readable = String(validating: value, as: UTF8.self)
        let text = readable ?? percentEncoded(value)
        return name + (readable == nil ? ":" : ": ") + (isSecret(name) ? fingerprint(name, text) : text)
    }

    /// RFC 9111 §4.1: fields match also after "combining multiple header field lines with the same field name" and
    /// "adding or removing whitespace" where that is allowed; the ends of a value are such places.
    private static func combinedValue(of name: String, in fields: HTTPFields) -> [UInt8]? {
        var value: [UInt8]?
        for field in fields where field.name.canonicalName == name {
            field.withUnsafeBytesOfValue { bytes in
                guard value != nil else {
                    value = Array(bytes.trimmed)
                    return
                }
                // RFC 9113 §8.2.3: the pieces of a Cookie are joined by "; ", all else by ", ".
                value?.append(contentsOf: (name == "cookie" ? "; " : ", ").utf8)
                value?.append(contentsOf: bytes.trimmed)
            }
        }
        return value
    }

    private static func isSecret(_ name: String) -> Bool {
        name == "authorization" || name == "proxy-authorization" || name == "cookie"
    }

    private static func percentEncoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in bytes {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension FieldBytes {
    /// Whether this line of a selection is about the field `name`.
    fileprivate func isLine(of name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard count > 0, self.count >= count, self.count == count || self[count] == UInt8(ascii: ":") else {
            return false
        }
        return FieldBytes(rebasing: prefix(count)).isCaseInsensitively(name)
    }
}

extension HTTPRequest {
    /// Lengths first: this runs on every hit.
    fileprivate var hasAuthorization: Bool {
        headerFields.contains { $0.name.canonicalName.utf8.count == 13 && $0.name == .authorization }
    }
}
