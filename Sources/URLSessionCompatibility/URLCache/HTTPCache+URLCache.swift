public import CacheLoader
internal import Dispatch
public import Foundation

extension HTTPCache {
    /// Stores the responses that a `URLCache` of Apple's systems has on disk.
    ///
    /// ```swift
    /// let old = URL.cachesDirectory.appending(path: Bundle.main.bundleIdentifier ?? "")
    /// let result = try await cache.importURLCache(at: old)
    /// URLCache.shared.removeAllCachedResponses()
    /// ```
    ///
    /// Stores each response to a GET as if the cache had received it when the `URLCache` did: by RFC 9111, by the
    /// policy, and into the partition of the configuration. So an old response is stale, and is validated before it
    /// answers. A response never replaces a newer one. Oldest responses come first, so that the limits of the store evict
    /// those. Responses to requests of WebKit, to other methods and to ranges are not stored.
    ///
    /// Does this once for each `URLCache` and partition: the store records a complete import, and later calls return at
    /// once. Removing the entries does not remove the record. An import that was cancelled or killed continues with the
    /// next call. Without a database in `directory` the call does nothing.
    ///
    /// Reads and writes on a thread of its own, at the priority `utility`. Changes neither the database nor a file of the
    /// `URLCache`. The app may use the `URLCache` meanwhile.
    ///
    /// - Parameter directory: The directory with `Cache.db`. That of `URLCache.shared` has the identifier of the app's
    ///   bundle as its name, and is in `URL.cachesDirectory`.
    /// - Throws: ``URLCacheImportError``. Responses that were stored until then stay.
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
