package import HTTPTypes

/// Replaces credentials and cookies, so that a file with exchanges contains no secrets.
///
/// Keeps what programs depend on: the scheme of `Authorization`, the names and attributes of cookies, the names of query
/// items. Redacting twice changes nothing. Bodies stay as they are.
package struct Redaction: Sendable {
    package static let replacement = "REDACTED"

    private static let fieldNames: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "set-cookie", "x-amz-security-token", "x-api-key",
        "x-auth-token",
    ]
    private static let queryNames: Set<String> = [
        "access_token", "api_key", "apikey", "client_secret", "id_token", "password", "refresh_token", "sig",
        "signature",
        "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature", "x-goog-credential", "x-goog-signature",
    ]

    private let fieldNames: Set<String>
    private let queryNames: Set<String>

    /// Adds fields and query items to those that are always redacted. The case of a name does not matter.
    package init(fields: [HTTPField.Name] = [], queryItems: [String] = []) {
        fieldNames = Self.fieldNames.union(fields.map(\.canonicalName))
        queryNames = Self.queryNames.union(queryItems.map { $0.lowercased() })
    }

    package func redacted(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.path = request.path.map(redactedURL)
        request.headerFields = redacted(request.headerFields)
        return request
    }

    package func redacted(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headerFields = redacted(response.headerFields)
        return response
    }

    private func redacted(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(
            fields.map { field in
                var field = field
                field.value = redacted(field)
                return field
            })
    }

    private func redacted(_ field: HTTPField) -> String {
        let name = field.name.canonicalName
        // A redirect leads to the redacted URL.
        if name == "location" || name == "content-location" { return redactedURL(field.value) }
        guard fieldNames.contains(name) else { return field.value }
        switch name {
        case "authorization", "proxy-authorization":
            let scheme = field.value.prefix { $0 != " " }
            return scheme.count == field.value.count ? Self.replacement : "\(scheme) \(Self.replacement)"
        case "cookie":
            return field.value.split(separator: ";").map { redactedPair($0) }.joined(separator: ";")
        case "set-cookie":
            let parts = field.value.split(separator: ";", omittingEmptySubsequences: false)
            return ([redactedPair(parts[0])] + parts.dropFirst().map(String.init)).joined(separator: ";")
        default: return Self.replacement
        }
    }

    private func redactedPair(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "=") else { return Self.replacement }
        return pair[...equals] + Self.replacement
    }

    /// Returns a URL, or a path with a query, whose secret query items have another value.
    package func redactedURL(_ url: String) -> String {
        guard let start = url.firstIndex(of: "?") else { return url }
        let end = url[start...].firstIndex(of: "#") ?? url.endIndex
        let items = url[start..<end].dropFirst().split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            return queryNames.contains(name.lowercased()) ? "\(name)=\(Self.replacement)" : String(item)
        }
        return url[...start] + items.joined(separator: "&") + url[end...]
    }
}
