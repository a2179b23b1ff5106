package import CacheStore
package import Foundation

extension ResponseStore {
    /// A store without limits, as every other side of a comparison is.
    package static func unlimited(_ directory: URL) throws -> ResponseStore {
        var configuration = Configuration()
        configuration.limits = nil
        return try ResponseStore(directory: directory, configuration: configuration)
    }
}
