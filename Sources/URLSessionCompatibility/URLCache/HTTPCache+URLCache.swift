public import CacheLoader
internal import Dispatch
public import Foundation

extension HTTPCache {
    /// Imports the responses that a `URLCache` of Apple's systems has on disk.
    ///
    /// ```swift
    /// let old = URL.cachesDirectory.appending(path: Bundle.main.bundleIdentifier ?? "")
    /// let result = try await cache.importURLCache(at: old)
    /// URLCache.shared.removeAllCachedResponses()
    /// ```
    ///
    /// Stores each response to a GET as if the cache had received it when the `URLCache` did: by RFC 9111 and the
    /// policy, into the partition of the configuration. So an old response is stale, and is validated before it
    /// answers. A response never replaces a newer one. Imports the oldest responses first, so that the limits of the
    /// store evict those. Skips responses to requests of WebKit, to other methods and to ranges.
    ///
    /// Imports each `URLCache` once for each partition: the store records a complete import, and later calls return
    /// immediately. Removing the entries does not remove the record. After a cancelled or killed import, the next call
    /// continues. Does nothing without a database in `directory`.
    ///
    /// Reads and writes on a separate thread with priority `utility`. Changes neither the database nor a file of the
    /// `URLCache`. The app may use the `URLCache` during the import.
    ///
    /// - Parameter directory: The directory with `Cache.db`. For `URLCache.shared`, the directory in
    ///   `URL.cachesDirectory` named like the app's bundle identifier.
    /// - Throws: ``URLCacheImportError``. The responses stored before the error remain.
    @discardableResult
    public func importURLCache(at directory: URL) async throws(URLCacheImportError) -> URLCacheImport {
        let importer = URLCacheImporter(into: self, from: directory)
        let result: Result<URLCacheImport, URLCacheImportError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "cachestore.importURLCache", qos: .utility).async {
                    continuation.resume(returning: Result { () throws(URLCacheImportError) in try importer.run() })
                }
            }
        } onCancel: {
            importer.cancel()
        }
        return try result.get()
    }
}
