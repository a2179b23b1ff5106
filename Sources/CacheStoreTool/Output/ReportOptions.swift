import ArgumentParser
import CacheReports

/// The output format of a command.
struct ReportOptions: ParsableArguments {
    /// The format, or `nil` for text.
    @Flag var format: ReportFormat?

    /// Writes the result of a command in this format. Does not evaluate the other format.
    func write(_ json: @autoclosure () throws -> JSON, text: @autoclosure () throws -> String) throws {
        if let format { try format.write(json()) } else { try StandardOutput.write(line: text()) }
    }
}

/// A script format in place of text.
enum ReportFormat: EnumerableFlag, Sendable {
    case json
    case jsonl

    func write(_ json: JSON) throws {
        var bytes = json.bytes(self == .json ? .pretty : .line)
        bytes.append(UInt8(ascii: "\n"))
        try StandardOutput.write(bytes)
    }

    static func help(for value: ReportFormat) -> ArgumentHelp? {
        switch value {
        case .json: "Report in JSON."
        case .jsonl: "Report in JSON, one object a line."
        }
    }
}
