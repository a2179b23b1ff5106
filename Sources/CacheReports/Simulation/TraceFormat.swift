/// The format of the requests in a file.
package enum TraceFormat: String, CaseIterable, Sendable {
    /// A line is `time key size`.
    case trace
    /// A line is one of an access log in the Common or the Combined Log Format.
    case accessLog = "access-log"

    /// Guesses the format of a file by its first line.
    package init(guessing line: String) {
        self = AccessLogLine(line) == nil ? .trace : .accessLog
    }
}
