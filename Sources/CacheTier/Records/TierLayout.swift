internal import ByteText
internal import CacheFoundation
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes

/// The names of the objects, documented in the article *A shared tier*.
struct TierLayout: Sendable {
    static let version = "v1"
    /// The number of groups of URLs that an unsafe request invalidates together.
    static let bucketCount = 256
    /// The most tags of a response. A reader checks each of them. RFC 9875 §2 requires at least 32.
    static let maxTagCount = 32

    let names: SymmetricKey
    let partition: String

    /// Returns the key of the responses to GET requests for a URL.
    func key(of url: String) -> String { mac("key", ["GET", url]) }

    func body(digest: String) -> String { "\(Self.version)/cas/\(digest)" }

    /// Returns the name of the object with the names in `Vary`.
    func vary(_ key: String) -> String { "\(Self.version)/vary/\(key)" }

    /// Returns the name of the record of one variant.
    func response(_ key: String, _ variant: VaryKey) -> String {
        "\(Self.version)/resp/\(key)/\(mac("variant", [variant.text]))"
    }

    /// Returns the name of the lease on a request for one variant.
    func lease(_ key: String, _ variant: VaryKey) -> String {
        "\(Self.version)/lease/\(key)/\(mac("variant", [variant.text]))"
    }

    func epoch(_ scope: TierScope) -> String {
        switch scope.kind {
        case .partition: "\(Self.version)/epoch/\(mac("partition", []))"
        case .host(let authority): "\(Self.version)/epoch/\(mac("host", [authority.lowercased()]))"
        case .url(let url): "\(Self.version)/epoch/\(mac("bucket", [String(key(of: Self.normalized(url)).prefix(2))]))"
        case .tag(let tag, let origin): "\(Self.version)/tag/\(mac("tag", [Self.origin(of: origin), tag]))"
        }
    }

    /// The name of the epoch that each removal of a tag replaces first.
    var commonTagEpoch: String { "\(Self.version)/epoch/\(mac("tags", []))" }

    /// Whether the epoch belongs to a tag.
    func isTag(_ epoch: String) -> Bool { epoch.hasPrefix("\(Self.version)/tag/") }

    /// The epochs of the tags of a response (RFC 9875).
    func tagEpochs(of fields: HTTPFields, url: String) -> [String] {
        CacheGroups(fields).names.map { epoch(.tag($0, origin: url)) }
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

    /// The epochs on which the responses to a request depend.
    func epochs(of request: HTTPRequest) -> [String] {
        [epoch(.partition), epoch(.host(request.authority ?? "")), epoch(.url(request.url))]
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
