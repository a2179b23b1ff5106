import Foundation
import Synchronization

/// A line on the terminal that says how far long work has come, and disappears at its end. In a pipe there is none.
final class ProgressLine: Sendable {
    private static let interval = Duration.milliseconds(100)
    static let width = 79

    private struct State {
        /// What is to be shown.
        var text = ""
        /// What the terminal shows.
        var shown = ""
        /// How many others are writing to the terminal.
        var interruptions = 0

        mutating func erase() {
            if !shown.isEmpty { StandardError.write("\r\u{1B}[K") }
            shown = ""
        }
    }

    /// Whether there is a line.
    let isOnTerminal: Bool
    /// Guards the line, on the terminal, too.
    private let state = Mutex(State())

    /// - Parameter isWanted: Whether there may be a line at all.
    init(isWanted: Bool = true) {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        isOnTerminal = isWanted && isatty(STDERR_FILENO) == 1 && !terminal.isEmpty && terminal != "dumb"
    }

    /// What the line says from its next turn on. Costs next to nothing where there is none.
    func say(_ text: @autoclosure () -> String) {
        guard isOnTerminal else { return }
        let text = text()
        state.withLock { $0.text = text }
    }

    /// Has `write` write to the terminal where the line was; it comes again below.
    func interrupt<Problem: Error>(_ write: () throws(Problem) -> Void) throws(Problem) {
        guard isOnTerminal else { return try write() }
        state.withLock { state in
            state.erase()
            state.interruptions += 1
        }
        defer { state.withLock { $0.interruptions -= 1 } }
        try write()
    }

    /// Does `work`, and shows meanwhile what has been said.
    ///
    /// - Parameter ask: Asked for each turn of the line, for work that says nothing itself; `nil` leaves it as it is.
    func show<Result>(
        asking ask: @escaping @Sendable () -> String? = { nil }, during work: () async throws -> Result
    ) async throws -> Result {
        guard isOnTerminal else { return try await work() }
        let display = Task { await self.display(ask) }
        do {
            let result = try await work()
            await end(display)
            return result
        } catch {
            await end(display)
            throw error
        }
    }

    /// Work that is done within a turn is never spoken of.
    private func display(_ ask: () -> String?) async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if let text = ask() { say(text) }
            state.withLock { state in
                guard state.interruptions == 0, state.text != state.shown else { return }
                StandardError.write("\r\u{1B}[K\(state.text.inOneLine.prefix(Self.width))")
                state.shown = state.text
            }
        }
        state.withLock { $0.erase() }
    }

    private func end(_ display: Task<Void, Never>) async {
        display.cancel()
        await display.value
        state.withLock { $0.text = "" }
    }
}
