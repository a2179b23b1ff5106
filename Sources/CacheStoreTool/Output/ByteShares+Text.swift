extension [ByteShares] {
    /// The non-empty tables, one below the other, with equal widths.
    var text: String {
        let shares = filter { !$0.groups.isEmpty }
        let width = shares.flatMap { [$0.title] + $0.groups.map(\.label) }.reduce(0) { Swift.max($0, $1.columnCount) }
        return shares.map { shares in
            let rows = shares.groups.map { group in
                (name: group.label, share: group.share, numbers: ["\(group.entries)", group.bytes.asByteCount])
            }
            let title = shares.title.leftAligned(in: width)
            let longest = rows.map(\.share).max() ?? 0
            return TextTable.shares(title, ["entries", "   bytes"], rows, longest: longest)
        }.joined(separator: "\n\n")
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

extension ByteShares.Group {
    private static let maxWidth = 28

    fileprivate var label: String {
        switch name {
        case nil: "(\(count.of("other", "others")))"
        case "": "(none)"
        case let name?: name.inOneLine.cut(toColumns: Self.maxWidth)
        }
    }
}
