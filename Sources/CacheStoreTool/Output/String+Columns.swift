extension String {
    /// The number of terminal columns of the text on one line.
    package var columnCount: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return unicodeScalars.reduce(0) { $0 + $1.columnCount }
    }

    /// Returns the text, cut to `limit` columns with an ellipsis at its end.
    package func cut(toColumns limit: Int) -> String {
        columnCount <= limit ? self : prefix(columns: limit - 1) + "…"
    }

    /// Returns the text, cut to `limit` columns with an ellipsis between its start and its end.
    package func cutInside(toColumns limit: Int) -> String {
        guard columnCount > limit else { return self }
        let end = String(String(reversed()).prefix(columns: (limit - 1) / 2).reversed())
        return prefix(columns: limit - 1 - end.columnCount) + "…" + end
    }

    /// Returns the text with trailing spaces, at least `width` columns wide.
    func leftAligned(in width: Int) -> String { self + spaces(to: width) }

    /// Returns the text with leading spaces, at least `width` columns wide.
    func rightAligned(in width: Int) -> String { spaces(to: width) + self }

    private func spaces(to width: Int) -> String { String(repeating: " ", count: max(0, width - columnCount)) }

    /// Returns the longest prefix of whole characters that fits into `limit` columns.
    private func prefix(columns limit: Int) -> String {
        var (width, kept) = (0, "")
        for character in self {
            width += String(character).columnCount
            guard width <= limit else { break }
            kept.append(character)
        }
        return kept
    }
}

extension Unicode.Scalar {
    /// The columns of a scalar on most terminals: combining marks 0, wide East Asian letters and pictures 2, else 1.
    fileprivate var columnCount: Int {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        case 0..<0x300:
            1
        default:
            switch properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: 0
            default: 1
            }
        }
    }
}
