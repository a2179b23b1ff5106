// The folder `Vary/` compares requests by the fields that `Vary` names, and URLs as `No-Vary-Search` permits. The
// folder may use `Fields/`, and no other folder. The folder does not choose among responses that match.

internal import ByteText

/// The request fields that the `Vary` of a response nominates, with their values (RFC 9111 §4.1).
///
/// Distinguishes the stored responses of one URL: a new response replaces the stored response with an equal key. The
/// text is readable for people and SQL. It has one line for each nominated field, sorted by name:
///
///     accept-encoding: gzip, br
///     accept-language
///     cookie: 5f2b…
///
/// An absent field has only its name; an empty field has `name: ` (RFC 9111 §4.1: absent matches only absent). Several
/// lines of one field are combined in order. A value that is not UTF-8 follows its colon without a space,
/// percent-encoded. Credentials are stored only as fingerprints.
///
/// Keeps values as sent. Only ``matches(_:fingerprint:nominatesAuthorization:)`` detects different values with the same
/// meaning.
public struct VaryKey: Sendable {
    /// The lines, joined by line feeds. Empty when `Vary` nominates no field.
    public let text: String

    /// Returns a one-line text that replaces the secret value of a field.
    ///
    /// The cache calls it for `Authorization`, `Proxy-Authorization` and `Cookie`, with the name in lower case. Equal
    /// values need equal texts, for as long as responses are stored. A collision gives the response of one user to
    /// another: use a cryptographic hash such as SHA-256, or the value itself for responses that stay in memory.
    public typealias Fingerprint = (_ name: String, _ value: String) -> String

    /// Restores a stored key.
    public init(text: String) {
        self.text = text
    }

    /// Creates the key of the fields that `response` nominates in `request`. ``ReplyDecision`` creates the key of every
    /// response to store.
    ///
    /// - Parameters:
    ///   - response: The fields of the response.
    ///   - request: The request as sent.
    ///   - fingerprint: Replaces credentials.
    ///   - nominatesAuthorization: Whether to nominate the `Authorization` of a request even if `Vary` does not. A
    ///     response to one user is then never selected for another user. ``ReplyDecision`` sets it in a private cache.
    /// - Returns: `nil` when no other request can match: `Vary` contains `*`, is malformed, or has more than 64 field
    ///   names.
    public init?(
        response: HTTPFields, request: HTTPRequest, fingerprint: Fingerprint, nominatesAuthorization: Bool = false
    ) {
        guard var names = Self.nominatedNames(in: response) else { return nil }
        if nominatesAuthorization, request.hasAuthorization, !names.contains("authorization") {
            names.append("authorization")
            names.sort()
        }
        let lines = names.map { Self.line(name: $0, of: request.headerFields, fingerprint: fingerprint) }
        self.init(text: lines.joined(separator: "\n"))
    }

    /// Whether the nominated fields of `request` match this key (RFC 9111 §4.1).
    ///
    /// Ignores outer whitespace and the number of lines. A field with a known syntax, such as `Accept-Language`, also
    /// matches by meaning: equal ranges with equal weights, in any order. Any other field matches byte for byte.
    ///
    /// - Parameters:
    ///   - request: The request as sent.
    ///   - fingerprint: Replaces credentials, as for the key.
    ///   - nominatesAuthorization: The value passed to ``init(response:request:fingerprint:nominatesAuthorization:)``.
    ///     If `true`, a request with `Authorization` matches only a key with the same credentials. In either case, a
    ///     request without `Authorization` never matches a key with credentials.
    public func matches(
        _ request: HTTPRequest, fingerprint: Fingerprint, nominatesAuthorization: Bool = false
    ) -> Bool {
        matches(request, but: "", fingerprint: fingerprint, nominatesAuthorization: nominatesAuthorization)
    }

    /// Matches like ``matches(_:fingerprint:nominatesAuthorization:)``, but ignores the field `exempt`.
    func matches(
        _ request: HTTPRequest, but exempt: StaticString, fingerprint: Fingerprint, nominatesAuthorization: Bool
    ) -> Bool {
        if nominatesAuthorization, request.hasAuthorization, !nominates("authorization") { return false }
        return text.isEmpty
            || allLines { line in
                line.isLine(of: exempt) || Self.matches(line, request.headerFields, fingerprint: fingerprint)
            }
    }

    /// Whether `Vary` nominates the field `name`, given in lower case.
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

    /// Compares without building the line if possible: nearly every hit on a response with `Vary` takes this path.
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
        // RFC 9111 §4.1: a field that is absent "can only match another request if it is also absent there".
        guard let found else { return value.isEmpty }
        let nameText = String(decoding: name, as: UTF8.self)
        let isReadable = value.starts(with: ": ".utf8) && !isSecret(nameText)
        if isReadable, isOneLine, found.withUnsafeBytesOfValue({ $0.trimmed.elementsEqual(value.dropFirst(2)) }) {
            return true
        }
        // Compare bytes: == on strings treats canonically equivalent characters as equal.
        if Self.line(name: nameText, of: fields, fingerprint: fingerprint).utf8.elementsEqual(line) { return true }
        guard isReadable, let syntax = ListSyntax(fieldName: nameText),
            let combined = combinedValue(of: nameText, in: fields),
            let stored = NormalizedValue(FieldBytes(rebasing: value.dropFirst(2)), syntax)
        else { return false }
        return combined.withUnsafeBufferPointer { NormalizedValue($0, syntax) } == stored
    }
}

extension VaryKey: Hashable {
    /// Compares bytes: == on strings treats canonically equivalent characters as equal.
    public static func == (lhs: VaryKey, rhs: VaryKey) -> Bool {
        lhs.text.hasSameBytes(as: rhs.text)
    }

    /// Hashes the bytes, as `==` compares them.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension VaryKey {
    /// The most names in `Vary`. A longer list counts as `*`, because each name costs a search at every lookup.
    package static let maxNameCount = 64

    /// Reads `Vary = #( "*" / field-name )` over all lines (RFC 9110 §12.5.5). Returns `nil` when no request can match.
    private static func nominatedNames(in response: HTTPFields) -> [String]? {
        var names: Set<String> = []
        for field in response where field.name == .vary {
            guard let tokens = field.withUnsafeBytesOfValue(\.lowercasedTokens) else { return nil }
            names.formUnion(tokens)
        }
        // RFC 9111 §4.1: a `Vary` with "*" "always fails to match".
        guard !names.contains("*"), names.count <= maxNameCount else { return nil }
        return names.sorted()
    }

    static func line(name: String, of fields: HTTPFields, fingerprint: Fingerprint) -> String {
        guard let value = combinedValue(of: name, in: fields) else { return name }
        let readable = String(validating: value, as: UTF8.self)
        let text = readable ?? PercentEncoding.encoded(value) { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "%") }
        return name + (readable == nil ? ":" : ": ") + (isSecret(name) ? fingerprint(name, text) : text)
    }

    private static func combinedValue(of name: String, in fields: HTTPFields) -> [UInt8]? {
        // RFC 9111 §4.1: fields also match after "combining multiple header field lines with the same field name" and
        // "adding or removing whitespace" where the syntax allows it. The syntax allows it at the ends of a value.
        var value: [UInt8]?
        for field in fields where field.name.canonicalName == name {
            field.withUnsafeBytesOfValue { bytes in
                guard value != nil else {
                    value = Array(bytes.trimmed)
                    return
                }
                // RFC 9113 §8.2.3 joins the pieces of a Cookie by "; ". All other lines are joined by ", ".
                value?.append(contentsOf: (name == "cookie" ? "; " : ", ").utf8)
                value?.append(contentsOf: bytes.trimmed)
            }
        }
        return value
    }

    /// Returns a line for each field with credentials, with a fingerprint as its value. Empty without credentials.
    package static func credentials(of request: HTTPRequest, fingerprint: Fingerprint) -> VaryKey {
        let names = secretNames.filter { name in
            request.headerFields.contains { $0.name.canonicalName == name }
        }
        let lines = names.map { line(name: $0, of: request.headerFields, fingerprint: fingerprint) }
        return VaryKey(text: lines.joined(separator: "\n"))
    }

    /// The fields that hold credentials, in the order of their names.
    private static let secretNames = ["authorization", "cookie", "proxy-authorization"]

    private static func isSecret(_ name: String) -> Bool { secretNames.contains(name) }
}

extension FieldBytes {
    /// Whether this line of a key belongs to the field `name`.
    fileprivate func isLine(of name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard count > 0, self.count >= count, self.count == count || self[count] == UInt8(ascii: ":") else {
            return false
        }
        return FieldBytes(rebasing: prefix(count)).isCaseInsensitively(name)
    }
}

extension HTTPRequest {
    /// Compares lengths first, because every hit runs this check.
    fileprivate var hasAuthorization: Bool {
        headerFields.contains { $0.name.canonicalName.utf8.count == 13 && $0.name == .authorization }
    }
}
