internal import CacheStore

/// The site of the page that a request serves, as a name for a partition.
///
/// A browser separates the responses for pages of different sites. Otherwise a page could measure whether another site
/// has loaded a URL. A program that shows pages of several sites does the same with a cache for each site, on one
/// store:
///
/// ```swift
/// var configuration = HTTPCache.Configuration()
/// configuration.partition = TopLevelSite("https://news.example.com/today")?.partition ?? ""
/// ```
///
/// A site is a scheme and a registrable domain, or a host without one
/// ([HTML](https://html.spec.whatwg.org/multipage/browsers.html#sites)). The port does not matter. The
/// [Public Suffix List](https://publicsuffix.org) determines which domains are registrable. It changes every week and
/// is not part of this library. Without it each host is its own site, which separates more than necessary.
public struct TopLevelSite: Hashable, Sendable {
    /// The name of the partition, such as `https://example.com`.
    public let partition: String

    /// Creates the site of a page, or returns `nil` for a URL without a host, such as a `data:` URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the page in the address bar, not of a frame.
    ///   - registrableDomain: Returns the registrable domain of a host in lower case, such as `example.co.uk` for
    ///     `news.example.co.uk`, or `nil` for a host without one. Not called for an address such as `127.0.0.1`.
    public init?(_ url: String, registrableDomain: (_ host: String) -> String? = { _ in nil }) {
        guard let key = try? CacheKey(url: url), let host = key.host,
            let scheme = key.text.firstRange(of: "://").map({ key.text[..<$0.lowerBound] })
        else { return nil }
        // The last label of a name is not a number (https://url.spec.whatwg.org/#ends-in-a-number-checker).
        let isAddress = host.hasPrefix("[") || host.split(separator: ".").last?.allSatisfy(\.isNumber) ?? true
        partition = "\(scheme)://\(isAddress ? host : registrableDomain(host) ?? host)"
    }
}
