import Foundation

/// The terminal behind the standard output or the standard error.
struct Terminal {
    /// The default row limit of a table, so that a large store does not scroll everything else away.
    static let rowLimit = 100

    /// The number of columns.
    let width: Int

    /// Returns `nil` for a descriptor that is no terminal.
    init?(_ descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = isKnown ? Int(size.ws_col) : Self.widthOfEnvironment ?? 80
    }

    /// The terminal of the standard output, or `nil` for a pipe or a file.
    static var ofOutput: Terminal? { Terminal(STDOUT_FILENO) }

    private static var widthOfEnvironment: Int? {
        ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }
}
