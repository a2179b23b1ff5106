import ArgumentParser
import CacheLoader

/// The policy for answers from the store, by its name on the command line.
enum PolicyArgument: String, ExpressibleByArgument, CaseIterable {
    case http
    case cacheFirst = "cache-first"
    case revalidate
    case remoteOnly = "remote-only"
    case cacheOnly = "cache-only"

    var policy: CachePolicy {
        switch self {
        case .http: CachePolicy(mode: .http)
        case .cacheFirst: CachePolicy(mode: .cacheFirst)
        case .revalidate: CachePolicy(mode: .revalidateAlways)
        case .remoteOnly: CachePolicy(mode: .remoteOnly)
        case .cacheOnly: CachePolicy(mode: .cacheOnly)
        }
    }
}
