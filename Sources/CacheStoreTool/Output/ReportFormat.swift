import ArgumentParser

/// A format for scripts, in place of text.
enum ReportFormat: EnumerableFlag, Sendable {
    case json
    case jsonl

    static func help(for value: ReportFormat) -> ArgumentHelp? {
        switch value {
        case .json: "Report in JSON."
        case .jsonl: "Report in JSON, one object a line."
        }
    }
}
