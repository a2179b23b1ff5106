internal import CacheStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A caller that waits for the result of a load.
struct LoadWaiter: Sendable {
    /// The processing plan for the body.
    let plan: ProcessingPlan
    /// The key of the value in memory; `nil` if memory must not keep the value.
    let memoryKey: LoaderMemory.Key?
    /// Receives the events of the load, the end last. Called on any thread, without a lock.
    let receive: @Sendable (WaiterEvent) -> Void
}

/// An event of a coalesced load.
enum WaiterEvent: Sendable {
    case requesting
    /// The head of the response has arrived. The date is `nil` if the response did not come from the origin, or has no
    /// freshness lifetime.
    case responding(expiresAt: Date?)
    case progress(received: Int64, total: Int64?)
    case retrying(LoadError, failedAttempts: Int, delay: Duration?)
    case storeFailed(StoreError)
    case ended(Result<Loaded<any Sendable>, LoadError>)
}
