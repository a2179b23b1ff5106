/// Returns the result of `operation`, or `nil` after `limit`, or once the calling task is cancelled. Then the operation is
/// cancelled, but not awaited: a transport may ignore its cancellation.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let (results, continuation) = AsyncStream<Value?>.makeStream()
    let work = Task { continuation.yield(await operation()) }
    let timer = Task {
        guard (try? await sleep(limit)) != nil else { return }
        continuation.yield(nil)
    }
    defer {
        work.cancel()
        timer.cancel()
    }
    // Ends without a result if this task is cancelled.
    for await result in results { return result }
    return nil
}
