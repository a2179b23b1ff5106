/// Returns the result of `operation`, or `nil` after `limit` or once the calling task is cancelled. Then cancels the
/// operation, but does not wait for it: a transport may ignore its cancellation.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let first = FirstResult<Value?>()
    let work = Task { first.finish(await operation()) }
    // A sleep that ignores its cancellation must not keep the result.
    let timer = Task { [weak first] in
        guard (try? await sleep(limit)) != nil else { return }
        first?.finish(nil)
    }
    let value = await withTaskCancellationHandler {
        await first.value()
    } onCancel: {
        first.finish(nil)
    }
    work.cancel()
    timer.cancel()
    return value
}
