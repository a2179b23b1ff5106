/// The format of a file of requests.
package enum TraceFormat: String, CaseIterable, Sendable {
    /// Lines `time key size`.
    case trace
    /// Lines of an access log in the Common or the Combined Log Format.
    case accessLog = "access-log"

    /// Guesses the format of a file by its first line.
    package init(guessing line: String) {
        self = AccessLogLine(line) == nil ? .trace : .accessLog
    }
}
