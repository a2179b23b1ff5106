import ArgumentParser
import CacheLoader

/// The policy for answers from the store, by its name on the command line.
enum PolicyArgument: String, ExpressibleByArgument, CaseIterable {
    case http
    case cacheFirst = "cache-first"
    case revalidate
    case remoteOnly = "remote-only"
    case cacheOnly = "cache-only"

    var policy: CachePolicy.Override {
        switch self {
        case .http: .http
        case .cacheFirst: .cacheFirst
        case .revalidate: .revalidateAlways
        case .remoteOnly: .remoteOnly
        case .cacheOnly: .cacheOnly
        }
    }
}
