package import CacheFoundation
package import CacheStore

/// An event of a coalesced load.
package enum WaiterEvent: Sendable {
    case requesting
    /// A redirect step asks for this key.
    case redirected(to: CacheKey)
    /// The head of the response has arrived. Later loads join until this date. The date is `nil` for a response that
    /// did not come from the origin.
    case responding(expiresAt: Date?)
    case progress(received: Int64, total: Int64?)
    case retrying(LoadError, failedAttempts: Int, delay: Duration?)
    case storeFailed(StoreError)
    case ended(Result<Loaded<any Sendable>, LoadError>)
}
