internal import CacheStore

/// Somebody who waits for a flight.
struct LoadWaiter: Sendable {
    /// What is to be made of the body.
    let recipe: Recipe
    /// Where that is kept in memory, if it is.
    let memoryKey: LoaderMemory.Key?
    /// Is told what happens, on any thread and without a lock, the end last.
    let receive: @Sendable (FlightEvent) -> Void
}

/// What happens to a flight.
enum FlightEvent: Sendable {
    case requesting
    case progress(LoadProgress)
    case retrying(LoadRetry)
    case storeFailed(StoreError)
    case ended(Result<Loaded<any Sendable>, LoadError>)
}
