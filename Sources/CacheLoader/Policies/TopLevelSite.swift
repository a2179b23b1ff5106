internal import CacheStore

/// The site of the page that a request serves, as a name for a partition.
///
/// A browser keeps the responses that the pages of one site load apart from those of the others: otherwise a page could
/// measure whether another site has loaded a URL. A program that shows pages of several sites does the same with a cache
/// for each site, on one store:
///
/// ```swift
/// var configuration = HTTPCache.Configuration()
/// configuration.partition = TopLevelSite("https://news.example.com/today")?.partition ?? ""
/// ```
///
/// A site is a scheme and a registrable domain, or a host that has none
/// ([HTML](https://html.spec.whatwg.org/multipage/browsers.html#sites)); the port makes no difference. Which domains are
/// registrable is told by the [Public Suffix List](https://publicsuffix.org), which changes every week and is not part of
/// this library. Without it each host is a site of its own, which separates more than necessary.
public struct TopLevelSite: Hashable, Sendable {
    /// The name of the partition, such as `https://example.com`.
    public let partition: String

    /// Creates the site of a page; `nil` if the URL has no host, as a `data:` URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the page in the address bar; not that of a frame.
    ///   - registrableDomain: Returns the registrable domain of a host in lower case, such as `example.co.uk` for
    ///     `news.example.co.uk`; `nil` if it has none. Not called for an address such as `127.0.0.1`.
    public init?(_ url: String, registrableDomain: (_ host: String) -> String? = { _ in nil }) {
        guard let key = try? CacheKey(url: url), let host = key.host,
            let scheme = key.text.firstRange(of: "://").map({ key.text[..<$0.lowerBound] })
        else { return nil }
        // The last label of a name is not a number (https://url.spec.whatwg.org/#ends-in-a-number-checker).
        let isAddress = host.hasPrefix("[") || host.split(separator: ".").last?.allSatisfy(\.isNumber) ?? true
        partition = "\(scheme)://\(isAddress ? host : registrableDomain(host) ?? host)"
    }
}
