public import CacheStore

/// The result of ``CacheLoader/HTTPCache/importURLCache(at:)``. Exactly one of the counts includes each response.
public struct URLCacheImport: Hashable, Sendable {
    /// Stored responses.
    public package(set) var imported = 0
    /// The bytes of their bodies.
    public package(set) var importedBytes: Int64 = 0
    /// Responses to requests for which the store already had a response, as new or newer.
    public package(set) var outdated = 0
    /// Responses that HTTP, the cache's policy or the limits of the store forbid to store, and responses to requests
    /// other than the app's GETs.
    public package(set) var refused = 0
    /// Responses without a readable request, head or body.
    public package(set) var unreadable = 0
    /// Whether an earlier call imported this `URLCache`. If so, all counts are 0.
    public package(set) var wasImportedBefore = false

    package init() {}
}

/// A failed import of a `URLCache`.
@nonexhaustive
public enum URLCacheImportError: Error, Hashable, Sendable {
    /// The database of the `URLCache` is unreadable or belongs to another program. Responses before the damage are
    /// imported. Remove the old cache.
    case unreadable(path: String, reason: String)
    /// The store failed: it is closed, suspended or open for reading only, or its disk is full.
    case store(StoreError)
    /// The calling task was cancelled. The next call continues.
    case cancelled
}

extension URLCacheImportError: CustomStringConvertible {
    /// The error and its location.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path) cannot be imported: \(reason)"
        case .store(let error): "\(error)"
        case .cancelled: "the import was cancelled"
        }
    }
}
