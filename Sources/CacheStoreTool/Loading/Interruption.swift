import Dispatch
import Foundation
import Synchronization

/// What Ctrl-C does to long work that can say how far it has come: cancels it, the first time.
enum Interruption {
    /// As the shell has it: 128 and the number of the signal.
    static let exitCode: Int32 = 128 + SIGINT

    /// Does `work`, whose task is cancelled by SIGINT; another one ends the process. Does nothing about a signal that the
    /// caller of this process wants to be ignored.
    ///
    /// - Parameter prepare: Called before the task is cancelled.
    /// - Returns: What it returned, and whether it was interrupted.
    static func cancelling<Result: Sendable>(
        after prepare: @escaping @Sendable () -> Void, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, isInterrupted: Bool) {
        let task = Task { try await work() }
        let signals = SignalCount()
        guard !isIgnored else { return (try await task.value, false) }
        #if canImport(Darwin)
        // There the source is told beside the handler; Dispatch on Linux takes the place of the handler.
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
