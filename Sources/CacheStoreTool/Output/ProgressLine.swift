import CacheLoader
import Foundation
import HTTPTypes
import Synchronization

/// A progress line of long work, erased at the end. Shown only when the standard error is a terminal.
final class ProgressLine: Sendable {
    private static let interval = Duration.milliseconds(100)
    /// The columns of the line. One less than those of the terminal, so that it never wraps.
    static var width: Int { (Terminal(STDERR_FILENO)?.width ?? 80) - 1 }

    private struct State {
        /// The text of the next update.
        var text = ""
        /// The text on the terminal.
        var shown = ""
        /// The number of concurrent writes to the terminal.
        var interruptions = 0

        mutating func erase() {
            if !shown.isEmpty { StandardError.write("\r\u{1B}[K") }
            shown = ""
        }
    }

    /// Whether the line is shown.
    let isOnTerminal: Bool
    /// Guards the line, and its output on the terminal.
    private let state = Mutex(State())

    /// - Parameter isWanted: Whether to show the line on a terminal.
    init(isWanted: Bool = true) {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        isOnTerminal = isWanted && isatty(STDERR_FILENO) == 1 && !terminal.isEmpty && terminal != "dumb"
    }

    /// Sets the text of the next update. Does not evaluate the text of a hidden line.
    func say(_ text: @autoclosure () -> String) {
        guard isOnTerminal else { return }
        let text = text()
        state.withLock { $0.text = text }
    }

    /// Erases the line and calls `write` to write to the terminal. The line reappears below.
    func interrupt<Problem: Error>(_ write: () throws(Problem) -> Void) throws(Problem) {
        guard isOnTerminal else { return try write() }
        state.withLock { state in
            state.erase()
            state.interruptions += 1
        }
        defer { state.withLock { $0.interruptions -= 1 } }
        try write()
    }

    /// Shows the line while `work` runs. Calls `ask` before each update, for work that does not call ``say(_:)``. The
    /// text stays if `ask` returns `nil`.
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

    /// Updates the line until cancelled. Shows no line for work that ends before the first update.
    private func display(_ ask: () -> String?) async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if let text = ask() { say(text) }
            state.withLock { state in
                guard state.interruptions == 0, state.text != state.shown else { return }
                StandardError.write("\r\u{1B}[K\(state.text.inOneLine.cut(toColumns: Self.width))")
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

extension WatchedTransport {
    /// Creates a transport that shows the transfers of another transport on a line.
    init(_ base: any HTTPTransport, showingOn line: ProgressLine) {
        self.init(base) { request throws(TransportError) in
            let place = request.authority ?? ""
            line.say("asking \(place)")
            return { head in
                let total = head.headerFields[.contentLength].flatMap { Int64($0) }
                let received = Atomic<Int64>(0)
                let meter = WorkMeter(place, .bytes)
                return { chunk in
                    guard let chunk else { return }
                    let done = received.add(Int64(chunk.count), ordering: .relaxed).newValue
                    line.say(meter.text(done: done, total: total))
                }
            }
        }
    }
}
