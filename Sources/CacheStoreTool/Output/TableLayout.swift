/// The widths of the columns of a table.
struct TableLayout {
    private static let gap = 2
    /// The least that is left of a column that has to be cut.
    private static let leastWidth = 8

    private let columns: [TextTable.Column]
    private var widths: [Int]
    /// Whether cells are cut to their columns. Without this, a cell wider than its column moves the later cells.
    private var isCut = false

    /// Makes the columns as wide as their widest cells.
    ///
    /// - Parameter sample: The cells of rows, in one line each.
    init(_ columns: [TextTable.Column], sample: [[String]]) {
        self.columns = columns
        widths = columns.indices.map { column in
            sample.reduce(columns[column].name.columnCount) { max($0, $1[column].columnCount) }
        }
    }

    /// Cuts columns so that a line takes at most `width` columns of the terminal. Returns whether there is room for a
    /// few letters of each. Numbers are not cut.
    mutating func fit(_ width: Int) -> Bool {
        isCut = true
        let room = width - Self.gap * (columns.count - 1)
        let cuttable = columns.indices.filter { columns[$0].alignment == .left }
        var free = room - widths.indices.filter { columns[$0].alignment == .right }.reduce(0) { $0 + widths[$1] }
        // The narrow ones keep their width, the wide ones share the rest equally.
        for (place, column) in cuttable.sorted(by: { widths[$0] < widths[$1] }).enumerated() {
            let share = free / (cuttable.count - place)
            if widths[column] > share {
                guard share >= Self.leastWidth else { return false }
                widths[column] = share
            }
            free -= widths[column]
        }
        return free >= 0
    }

    /// The names and the dashes.
    var header: [String] {
        [line(columns.map(\.name)), line(widths.map { String(repeating: "-", count: $0) })]
    }

    func line(_ cells: [String]) -> String {
        var line = ""
        // Spaces are added before the next cell, so that none ends the line.
        var spaces = 0
        for (index, whole) in cells.enumerated() {
            let cell = isCut ? cut(whole, index) : whole
            let padding = max(0, widths[index] - cell.columnCount)
            let isRight = columns[index].alignment == .right
            spaces += (index > 0 ? Self.gap : 0) + (isRight ? padding : 0)
            if !cell.isEmpty {
                line += String(repeating: " ", count: spaces) + cell
                spaces = 0
            }
            if !isRight { spaces += padding }
        }
        // A cell itself may end with spaces.
        line.removeLast(line.reversed().prefix { $0 == " " }.count)
        return line
    }

    private func cut(_ cell: String, _ index: Int) -> String {
        let column = columns[index]
        if column.alignment == .right { return cell }
        return column.keepsEnd ? cell.cutInside(toColumns: widths[index]) : cell.cut(toColumns: widths[index])
    }
}
