import ArgumentParser
import CacheStore

/// The output options of a command that prints rows.
struct RowOptions: ParsableArguments {
    @Flag(name: [.customShort("x"), .long], help: "Print one field a line, as psql does with \\x.")
    var expanded = false

    @Flag(help: "Print all rows, on a terminal too. A pipe or a file always receives all.")
    var all = false

    @OptionGroup var report: ReportOptions

    func validate() throws {
        if expanded, report.format != nil { throw ValidationError("-x prints text, not JSON; leave one of them out") }
    }

    /// Whether the output is text on a terminal, cut to its width and limited in rows.
    var fitsTerminal: Bool { report.format == nil && Terminal.ofOutput != nil }

    /// Prints the rows of a query, in its own columns if `columns` is empty. The limit of `query` must allow one more
    /// row than the printed ones. Returns the limit if it cut off rows; otherwise `nil`.
    func print(
        limit: Int?, columns: [TextTable.Column] = [],
        text: @escaping TextTable.CellText = { $1.displayText }, _ query: RowPrinter.Query
    ) throws -> Int? {
        let limit = limit ?? self.limit
        var printer = RowPrinter(encoder(columns, text), limit: limit)
        try printer.print(query)
        return printer.isTruncated ? limit : nil
    }

    /// The limit without a limit on the command line, or `nil` for all rows.
    var limit: Int? { fitsTerminal && !all ? Terminal.rowLimit : nil }

    private func encoder(_ columns: [TextTable.Column], _ text: @escaping TextTable.CellText) -> any RowEncoder {
        if let format = report.format { return JSONRowEncoder(format) }
        return TextTable(columns, isExpanded: expanded, limit: Terminal.ofOutput?.width, cellText: text)
    }
}
