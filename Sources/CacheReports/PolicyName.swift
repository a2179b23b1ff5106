package import CacheLoader

/// The policy for answers from the store, by its name on the command line and on the page.
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
