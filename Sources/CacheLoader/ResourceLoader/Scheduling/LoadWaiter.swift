/// A caller that waits for the result of a load.
struct LoadWaiter: Sendable {
    let plan: ProcessingPlan
    /// The key of the value in memory. `nil` when memory must not keep the value.
    let memoryKey: LoaderMemory.Key?
    /// Receives the events of the load, the end last. Called on any thread, without a lock.
    let receive: @Sendable (WaiterEvent) -> Void
}
