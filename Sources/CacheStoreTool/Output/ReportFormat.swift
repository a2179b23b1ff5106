import ArgumentParser
import CacheReports

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
