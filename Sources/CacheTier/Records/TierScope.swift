/// A set of responses that ``SharedTier/removeAll(in:)`` removes.
public struct TierScope: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case partition
        case host(String)
        case url(String)
        case tag(String, origin: String)
    }

    let kind: Kind

    /// All responses of the tier's partition.
    public static let partition = TierScope(kind: .partition)

    /// All responses of a host in the tier's partition.
    ///
    /// - Parameter authority: The host, with its port if the URLs name one: `example.com:8080`.
    public static func host(_ authority: String) -> TierScope { TierScope(kind: .host(authority)) }

    /// All variants of a URL's response.
    ///
    /// - Parameter url: The absolute URL, as requests state it.
    public static func url(_ url: String) -> TierScope { TierScope(kind: .url(url)) }

    /// The responses of an origin with a name in `Cache-Groups` (RFC 9875), for example all pages that show an article.
    ///
    /// - Parameters:
    ///   - name: The name, compared byte by byte.
    ///   - origin: The scheme and the authority, such as `https://example.com`. A path does not count.
    public static func tag(_ name: String, origin: String) -> TierScope { TierScope(kind: .tag(name, origin: origin)) }
}
