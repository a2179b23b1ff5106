import Foundation
import Synchronization

/// A line on the terminal that says how far long work has come, and disappears at its end. In a pipe there is none.
final class ProgressLine: Sendable {
    private static let interval = Duration.milliseconds(100)
    private static let width = 79

    private let isOnTerminal: Bool
    /// Guards what is to be shown.
    private let text = Mutex("")

    init() {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        isOnTerminal = isatty(STDERR_FILENO) == 1 && !terminal.isEmpty && terminal != "dumb"
    }

    /// What the line says from its next turn on. Costs next to nothing where there is none.
    func say(_ text: @autoclosure () -> String) {
        guard isOnTerminal else { return }
        let text = text()
        self.text.withLock { $0 = text }
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
        var shown = ""
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if let text = ask() { say(text) }
            let text = text.withLock { $0 }
            guard text != shown else { continue }
            StandardError.write("\r\u{1B}[K\(text.inOneLine.prefix(Self.width))")
            shown = text
        }
        if !shown.isEmpty { StandardError.write("\r\u{1B}[K") }
    }

    private func end(_ display: Task<Void, Never>) async {
        display.cancel()
        await display.value
        text.withLock { $0 = "" }
    }
}
