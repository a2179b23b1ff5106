package import CacheStore
package import Foundation

extension ResponseStore {
    /// Opens a store without limits, like the other sides of a comparison.
    package static func unlimited(_ directory: URL) throws -> ResponseStore {
        var configuration = Configuration()
        configuration.limits = nil
        return try ResponseStore(directory: directory, configuration: configuration)
    }
}
