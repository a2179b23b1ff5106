package import HTTPCaching

/// Replaces credentials and cookies, so that a file with exchanges contains no secrets. Keeps the parts that programs
/// depend on: the scheme of `Authorization`, the names and attributes of cookies, the names of query items. Redacting
/// twice changes nothing. Bodies stay as they are.
package struct Redaction: Sendable {
    package static let replacement = "REDACTED"

    private static let fieldNames: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "set-cookie", "x-amz-security-token", "x-api-key",
        "x-auth-token", "x-csrf-token", "x-goog-api-key",
    ]
    private static let queryNames: Set<String> = [
        "access_token", "api_key", "apikey", "assertion", "client_assertion", "client_secret", "id_token", "password",
        "refresh_token", "secret", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token",
        "x-amz-signature", "x-goog-credential", "x-goog-signature",
    ]
    /// Fields whose values are URLs, or contain some.
    private static let urlFields: Set<String> = ["content-location", "link", "location", "referer", "refresh"]
    private static let cookieAttributes: Set<String> = [
        "domain", "expires", "httponly", "max-age", "partitioned", "path", "samesite", "secure",
    ]

    private let fieldNames: Set<String>
    private let queryNames: Set<String>

    /// Adds fields and query items to those that are always redacted. The case of a name does not matter.
    package init(fields: [HTTPField.Name] = [], queryItems: [String] = []) {
        fieldNames = Self.fieldNames.union(fields.map(\.canonicalName))
        queryNames = Self.queryNames.union(queryItems.map { $0.lowercased() })
    }

    package func redacted(_ entry: HTTPArchive.Entry) -> HTTPArchive.Entry {
        var entry = entry
        entry.request.url = redactedURL(entry.request.url)
        entry.request.headers = entry.request.headers.map(redacted)
        entry.response.headers = entry.response.headers.map(redacted)
        return entry
    }

    /// Returns the value of a field, whose name may be in any case. Browsers join the lines of a field by newlines.
    func redactedValue(_ value: String, of name: String) -> String {
        let name = name.lowercased()
        guard fieldNames.contains(name) || Self.urlFields.contains(name) else { return value }
        let lines = value.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { redactedLine(String($0), of: name) }.joined(separator: "\n")
    }

    private func redacted(_ field: HTTPArchive.Field) -> HTTPArchive.Field {
        HTTPArchive.Field(name: field.name, value: redactedValue(field.value, of: field.name))
    }

    private func redactedLine(_ value: String, of name: String) -> String {
        guard fieldNames.contains(name) else { return redactedURL(value) }
        switch name {
        case "authorization", "proxy-authorization":
            let scheme = value.prefix { $0 != " " }
            return scheme.count == value.count ? Self.replacement : "\(scheme) \(Self.replacement)"
        case "cookie":
            return value.split(separator: ";").map { redactedPair($0) }.joined(separator: ";")
        case "set-cookie":
            let parts = value.split(separator: ";", omittingEmptySubsequences: false)
            let attributes = parts.dropFirst().filter(isAttribute).map(String.init)
            return ([redactedPair(parts.first ?? "")] + attributes).joined(separator: ";")
        default: return Self.replacement
        }
    }

    /// Whether a part of `Set-Cookie` is an attribute, and nothing else: some systems join several cookies by commas.
    private func isAttribute(_ part: Substring) -> Bool {
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = pair[0].filter { $0 != " " }.lowercased()
        let value = pair.count > 1 ? pair[1] : ""
        return Self.cookieAttributes.contains(name) && !value.contains("=")
            && (name == "expires" || !value.contains(","))
    }

    private func redactedPair(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "=") else { return Self.replacement }
        return pair[...equals] + Self.replacement
    }

    /// Returns a text with URLs, whose users, passwords and secret items have another value. Items are in the query, or
    /// in the fragment.
    package func redactedURL(_ text: String) -> String {
        var result = ""
        var rest = withoutUser(text)[...]
        while let start = rest.firstIndex(where: { $0 == "?" || $0 == "#" || $0 == "&" }) {
            result += rest[...start]
            rest = rest[start...].dropFirst()
            let item = rest.prefix { !"#&> \"".contains($0) }
            rest = rest[item.endIndex...]
            let name = item.prefix { $0 != "=" }
            let isSecret = item.contains("=") && queryNames.contains(decoded(name))
            result += isSecret ? "\(name)=\(Self.replacement)" : item
        }
        return result + rest
    }

    private func decoded(_ name: Substring) -> String {
        String(decoding: FormQuery.decoded(name.utf8), as: UTF8.self).lowercased()
    }

    private func withoutUser(_ text: String) -> String {
        guard let start = text.firstRange(of: "://")?.upperBound else { return text }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[at...].dropFirst())
    }
}
