/// Pauses the calling task until the time has passed, or the task is cancelled.
///
/// Pauses for at most a hundred years: `Task.sleep(for:)` ends the process if the clock has no such time.
package func pause(for duration: Duration) async throws {
    try await Task.sleep(for: min(duration, .seconds(3_155_760_000)))
}
