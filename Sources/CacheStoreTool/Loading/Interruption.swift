import Dispatch
import Foundation
import Synchronization

/// Handles Ctrl-C during long work: the first signal cancels the work.
enum Interruption {
    /// The convention of shells: 128 plus the number of the signal.
    static let exitCode: Int32 = 128 + SIGINT

    /// Runs `work` in a task. The first SIGINT cancels the task, the second ends the process. If the parent process has
    /// set SIGINT to be ignored, the signal stays ignored.
    ///
    /// - Parameter prepare: Called before the cancellation of the task.
    /// - Returns: The result of `work`, and whether SIGINT interrupted it.
    static func cancelling<Result: Sendable>(
        after prepare: @escaping @Sendable () -> Void, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, isInterrupted: Bool) {
        let task = Task { try await work() }
        let signals = SignalCount()
        guard !isIgnored else { return (try await task.value, false) }
        #if canImport(Darwin)
        // On Darwin the default handler runs beside the source and would end the process. Dispatch on Linux replaces
        // the handler.
        signal(SIGINT, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "cachestore.signal"))
        source.setEventHandler {
            if signals.add() > 1 { _exit(exitCode) }
            prepare()
            task.cancel()
        }
        source.resume()
        defer { source.cancel() }
        let result = try await task.value
        return (result, signals.value > 0)
    }

    private static var isIgnored: Bool {
        let current = signal(SIGINT, SIG_DFL)
        signal(SIGINT, current)
        return unsafeBitCast(current, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

private final class SignalCount: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() -> Int { count.add(1, ordering: .relaxed).newValue }
}
