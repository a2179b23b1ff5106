public import CacheStore

/// The result of ``CacheLoader/HTTPCache/importURLCache(at:)``: each response of the `URLCache` is in one of the counts.
public struct URLCacheImport: Hashable, Sendable {
    /// Responses that were stored.
    public package(set) var imported = 0
    /// The bytes of their bodies.
    public package(set) var importedBytes: Int64 = 0
    /// Responses to requests for which the store had a response as new or newer.
    public package(set) var outdated = 0
    /// Responses that HTTP, the policy of the cache or the limits of the store do not permit to keep, and responses to
    /// other requests than a GET of the app.
    public package(set) var refused = 0
    /// Responses without a readable request, head or body.
    public package(set) var unreadable = 0
    /// Whether an earlier call has imported this `URLCache`. Then all counts are 0.
    public package(set) var wasImportedBefore = false

    package init() {}
}

/// The reason why a `URLCache` could not be imported.
@nonexhaustive
public enum URLCacheImportError: Error, Hashable, Sendable {
    /// The database of the `URLCache` cannot be read, or belongs to another program. Responses before the damage are
    /// imported. Remove the old cache.
    case unreadable(path: String, reason: String)
    /// The store failed: it is closed, suspended or open for reading only, or its disk is full.
    case store(StoreError)
    /// The calling task was cancelled. The next call continues.
    case cancelled
}

extension URLCacheImportError: CustomStringConvertible {
    /// The error and its place.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path) cannot be imported: \(reason)"
        case .store(let error): "\(error)"
        case .cancelled: "the import was cancelled"
        }
    }
}
