import Foundation

extension TextTable {
    private static let barWidth = 20

    /// Returns a table of shares with bars, at most 80 columns wide for short names and numbers. `title` is the name of
    /// the first column. `numbers` are those of the columns between the shares and the bars. Shares are fractions of 1;
    /// `longest` is that of a full bar.
    static func shares(
        _ title: String, _ numbers: [String], _ rows: [(name: String, share: Double, numbers: [String])],
        longest: Double
    ) -> String {
        let columns = [Column(title), Column(" share", .right)] + numbers.map { Column($0, .right) } + [Column("")]
        let cells = rows.map { name, share, numbers in
            // A share above 0 gets at least one mark.
            let marks = share > 0 ? max(1, Int((share / longest * Double(barWidth)).rounded())) : 0
            return [name, String(format: "%.1f%%", share * 100)] + numbers + [String(repeating: "#", count: marks)]
        }
        return TextTable(columns).text(of: cells)
    }
}
