import Foundation

/// The terminal behind the standard output or the standard error.
struct Terminal {
    /// The rows of a table without another limit, so that a large store does not scroll the rest away.
    static let rowLimit = 100

    /// The number of columns.
    let width: Int

    /// `nil` if the descriptor is not a terminal.
    init?(_ descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = isKnown ? Int(size.ws_col) : Self.widthOfEnvironment ?? 80
    }

    /// The terminal of the standard output; `nil` for a pipe or a file.
    static var ofOutput: Terminal? { Terminal(STDOUT_FILENO) }

    private static var widthOfEnvironment: Int? {
        ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }
}
