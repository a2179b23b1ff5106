package import CacheLoader

/// The name of a cache policy, for the command line and for the page.
package enum PolicyName: String, CaseIterable, Sendable {
    case http
    case cacheFirst = "cache-first"
    case revalidate
    case remoteOnly = "remote-only"
    case cacheOnly = "cache-only"

    package var policy: CachePolicy.Override {
        switch self {
        case .http: .http
        case .cacheFirst: .cacheFirst
        case .revalidate: .revalidateAlways
        case .remoteOnly: .remoteOnly
        case .cacheOnly: .cacheOnly
        }
    }
}
