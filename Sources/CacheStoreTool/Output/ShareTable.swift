import Foundation

/// A table of byte shares with bars, at most 80 columns wide on every output.
struct ShareTable {
    private static let nameWidth = 28
    private static let barWidth = 20

    let shares: [ByteShares]

    /// Returns the tables, one below the other, with equal widths; empty if all shares are empty.
    func text() -> String {
        let shares = shares.filter { !$0.groups.isEmpty }
        let width = shares.flatMap { [$0.title] + $0.groups.map(label) }.reduce(0) { max($0, $1.columnCount) }
        return shares.map { table($0, nameWidth: width).text() }.joined(separator: "\n\n")
    }

    private func table(_ shares: ByteShares, nameWidth: Int) -> TextTable {
        let title = shares.title + String(repeating: " ", count: nameWidth - shares.title.columnCount)
        var table = TextTable(columns: [
            .init(title), .init(" share", .right), .init("entries", .right), .init("   bytes", .right), .init(""),
        ])
        let largest = shares.groups.reduce(0) { max($0, $1.share) }
        table.rows = shares.groups.map { group in
            [
                label(group), String(format: "%.1f%%", group.share * 100), "\(group.entries)", group.bytes.asByteCount,
                bar(group.share, of: largest),
            ]
        }
        return table
    }

    private func label(_ group: ByteShares.Group) -> String {
        switch group.name {
        case nil: "(\(group.count.of("other", "others")))"
        case "": "(none)"
        case let name?: name.inOneLine.cut(toColumns: Self.nameWidth)
        }
    }

    /// Returns a bar. A share above 0 has at least one mark.
    private func bar(_ share: Double, of largest: Double) -> String {
        guard share > 0 else { return "" }
        let marks = (share / largest * Double(Self.barWidth)).rounded()
        return String(repeating: "#", count: max(1, Int(marks)))
    }
}

extension ByteShares {
    fileprivate var title: String {
        switch property {
        case .host: "host"
        case .contentType: "content type"
        case .lastUse: "last use"
        }
    }
}
