/// Pauses the calling task for `duration`, or until the task is cancelled. Pauses for at most a hundred years, because
/// `Task.sleep(for:)` traps if the clock cannot represent the end.
package func pause(for duration: Duration) async throws {
    try await Task.sleep(for: min(duration, .seconds(3_155_760_000)))
}
