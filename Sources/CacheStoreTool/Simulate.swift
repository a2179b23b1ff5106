import ArgumentParser
import CacheStore

/// Replays recorded requests with each eviction policy, and reports the hits.
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replay recorded requests, and say which share of them each eviction policy makes hits.",
        discussion: """
            The trace has one request a line, 'time key size', in the order of time; empty lines and those that begin with \
            # are passed over. A key that is there is a hit, whatever its size now. The stores are real, with their limits, \
            but for the files of bodies: rows and pages are what is written to their indices, in a temporary directory. \
            The bound is what no cache of that size can exceed, even one that knows the future; it may itself be out of \
            reach.
            """)

    @Argument(help: "The trace; - reads the standard input.", completion: .file())
    var trace: String

    @Option(
        help: ArgumentHelp(
            "The limit, for bodies and index: \(ByteLimit.help). No body may have more than an eighth of it.",
            valueName: "bytes"))
    var maxBytes: ByteLimit

    @OptionGroup var report: ReportOptions

    func run() throws {
        let input = try InputFile(path: trace)
        var replay = try TraceReplay(limits: Limits(maxBytes: maxBytes.byteCount))
        do {
            while true {
                let chunk = try input.nextChunk()
                if chunk.isEmpty { break }
                try replay.add(chunk)
            }
            let report = SimulationReport(try replay.end(), of: replay)
            if let format = self.report.format {
                try JSONOutput.write(report, format)
            } else {
                try StandardOutput.write(line: report.text)
            }
        } catch let error as TraceRequest.Malformed {
            throw Failure(.broken, "\(input.path): \(error)")
        }
    }
}
