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
