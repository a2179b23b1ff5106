import Foundation
import Synchronization

/// A line on the terminal that says how far long work has come, and disappears at its end. In a pipe there is none.
final class ProgressLine: Sendable {
    /// The shortest time between two states that are shown.
    private static let interval = Duration.milliseconds(100)
    private static let width = 79

    private struct State {
        var isVisible = false
        var next: ContinuousClock.Instant = .now + .milliseconds(200)
    }

    private let isOnTerminal: Bool
    /// Guards what the terminal shows.
    private let state = Mutex(State())

    init() {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        isOnTerminal = isatty(STDERR_FILENO) == 1 && !terminal.isEmpty && terminal != "dumb"
    }

    /// Shows a state, unless another has been shown a moment ago.
    func show(_ text: @autoclosure () -> String) {
        guard isOnTerminal else { return }
        state.withLock { state in
            guard state.next <= .now else { return }
            state.next = .now + Self.interval
            state.isVisible = true
            StandardError.write("\r\u{1B}[K\(text().inOneLine.prefix(Self.width))")
        }
    }

    /// Removes the line. Whatever is written next begins where it was.
    func clear() {
        guard isOnTerminal else { return }
        state.withLock { state in
            if state.isVisible { StandardError.write("\r\u{1B}[K") }
            state.isVisible = false
        }
    }
}
