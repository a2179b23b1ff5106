import ArgumentParser
import CacheLoader
import Dispatch
import Foundation
import Synchronization

/// Handles Ctrl-C and `kill` during long work: the first SIGINT or SIGTERM cancels the work.
package enum Interruption {
    /// The signal that cancelled the work.
    package struct Signal: Sendable {
        package let number: Int32

        /// 128 plus the number of the signal, by shell convention.
        var exitCode: ExitCode { ExitCode(128 + number) }
    }

    /// Runs `work` in a task. The first SIGINT or SIGTERM calls `prepare` and cancels the task, the second ends the
    /// process. A signal that the parent has set to be ignored stays ignored. Also returns the signal, if any. Throws the
    /// exit code of the signal if `work` throws after it.
    package static func cancelling<Result: Sendable>(
        after prepare: @escaping @Sendable () -> Void = {}, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, signal: Signal?) {
        // Zero before the first signal.
        let first = Atomic<Int32>(0)
        let running = Mutex<Task<Result, any Error>?>(nil)
        let numbers = [SIGINT, SIGTERM].filter { !isIgnored($0) }
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
            #if canImport(Darwin)
            // On Darwin the default handler runs in addition to the source and would end the process. Dispatch on Linux
            // replaces the handler.
            signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(
                signal: number, queue: DispatchQueue(label: "cachestore.signal"))
            source.setEventHandler {
                let isFirst = first.compareExchange(expected: 0, desired: number, ordering: .relaxed).exchanged
                guard isFirst else { _exit(128 + number) }
                // Before the task starts, the caller below prepares and cancels it.
                guard let task = running.withLock({ $0 }) else { return }
                prepare()
                task.cancel()
            }
            // The source misses a signal before its registration. On Linux, the default handler then ends the process.
            await withCheckedContinuation { caller in
                source.setRegistrationHandler { caller.resume() }
                source.resume()
            }
            sources.append(source)
        }
        defer {
            for source in sources { source.cancel() }
            for number in numbers { signal(number, SIG_DFL) }
        }
        let task = Task { try await work() }
        running.withLock { $0 = task }
        // A signal arrived before the task started.
        if first.load(ordering: .relaxed) != 0 {
            prepare()
            task.cancel()
        }
        let result = await task.result
        let number = first.load(ordering: .relaxed)
        let signal = number == 0 ? nil : Signal(number: number)
        if let signal, case .failure = result { throw signal.exitCode }
        return (try result.get(), signal)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let current = signal(number, SIG_DFL)
        signal(number, current)
        return unsafeBitCast(current, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

extension ResourceLoader {
    /// Waits like ``waitForBodies()``, even in a task that a signal has cancelled: it still stores parts of bodies.
    func waitForBodiesAfterSignal() async {
        await Task { await waitForBodies() }.value
    }
}
