import ArgumentParser
import Foundation

/// Redraws the charts of a run from its table.
struct Charts: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draws the charts of the README from tables in Markdown; measures nothing.")

    @Argument(help: "The file with the tables.")
    var tables: String

    @Option(help: "Where the charts go.")
    var output = "."

    func run() throws {
        let text = try String(contentsOf: URL(filePath: tables), encoding: .utf8)
        let comparisons = RecordedTable(text).comparisons
        for (name, chart) in MedianChart.all {
            guard let svg = chart.svg(comparisons) else { throw ValidationError("no figures for \(name).svg") }
            try Data(svg.utf8).write(to: URL(filePath: output).appending(path: "\(name).svg"))
        }
    }
}
