internal import ByteText
internal import CacheFoundation
internal import Crypto
internal import HTTPCaching

/// The names of the objects, documented in the article *A shared tier*.
struct TierLayout: Sendable {
    static let version = "v2"
    /// The most tags of a response. A reader checks each of them. RFC 9875 §2 requires at least 32.
    static let maxTagCount = 32

    let names: SymmetricKey
    let partition: String

    /// Returns the key of the responses to GET requests for a URL.
    func key(of url: String) -> String { mac("key", ["GET", Self.normalized(url)]) }

    func body(digest: String) -> String { "\(Self.version)/cas/\(digest)" }

    /// Returns the name of the object with the names in `Vary` and the last removal.
    func keyObject(_ key: String) -> String { "\(Self.version)/key/\(key)" }

    /// Returns the name of the record of one variant. Values with the same meaning have the same record.
    func record(_ key: String, _ variant: VaryKey) -> String {
        "\(Self.version)/resp/\(key)/\(mac("variant", [variant.normalText]))"
    }

    /// The name of the object that changes with each removal of a scope.
    var latest: String { "\(Self.version)/removed/latest" }

    /// Returns the name of the object with the last removal of a scope. A URL has its key object.
    func removal(_ scope: TierScope) -> String {
        switch scope.kind {
        case .partition: "\(Self.version)/removed/\(mac("partition", []))"
        case .host(let authority): "\(Self.version)/removed/\(mac("host", [authority.lowercased()]))"
        case .tag(let tag, let origin): "\(Self.version)/removed/\(mac("tag", [Self.origin(of: origin), tag]))"
        case .url(let url): keyObject(key(of: url))
        }
    }

    /// The scopes that contain the responses to a request, besides their URL and their tags.
    func scopes(of request: HTTPRequest) -> [String] {
        [removal(.partition), removal(.host(request.authority ?? ""))]
    }

    /// The scopes of the tags of a response (RFC 9875).
    func tags(of fields: HTTPFields, url: String) -> [String] {
        CacheGroups(fields).names.prefix(Self.maxTagCount).map { removal(.tag($0, origin: url)) }
    }

    /// Returns the scheme and the authority of a URL, in lower case.
    private static func origin(of url: String) -> String {
        let text = normalized(url)
        guard let separator = text.firstRange(of: "://") else { return text }
        return String(text[..<separator.upperBound] + text[separator.upperBound...].prefix { $0 != "/" })
    }

    /// Returns a URL as ``HTTPTypes/HTTPRequest/url`` states it.
    private static func normalized(_ url: String) -> String {
        guard let separator = url.firstRange(of: "://") else { return url }
        let rest = url[separator.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        return "\(url[..<separator.lowerBound].lowercased())://\(authority.lowercased())"
            + (path.first == "/" ? path : "/\(path)")
    }

    /// Returns a text that replaces credentials in a variant key.
    func fingerprint(_ name: String, _ value: String) -> String { mac("secret", [name, value]) }

    private func mac(_ label: String, _ parts: [String]) -> String {
        // Length prefixes separate the parts.
        let text = ([label, partition] + parts).map { "\($0.utf8.count):\($0)" }.joined()
        return Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: names)).hexadecimal
    }
}

extension HTTPRequest {
    /// The absolute URL of the target.
    var url: String { "\(scheme?.lowercased() ?? "")://\(authority?.lowercased() ?? "")\(path ?? "/")" }
}
