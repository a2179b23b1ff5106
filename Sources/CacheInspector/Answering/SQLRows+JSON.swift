import ByteText
import CacheReports
import CacheStore

extension JSON {
    /// The largest integer that JavaScript represents exactly.
    private static let maxSafeInteger: Int64 = 9_007_199_254_740_991

    /// A value of a query. An integer that JavaScript would round becomes text. Bytes become hexadecimal digits.
    init(_ value: SQLValue, maxCharacters: Int) {
        switch value {
        case .null: self = .null
        case .integer(let number) where number.magnitude > Self.maxSafeInteger.magnitude: self = .text("\(number)")
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .number(number)
        case .text(let text): self = .text(text.cut(to: maxCharacters))
        case .blob(let bytes):
            self = ["hex": .text(bytes.prefix(maxCharacters / 2).hexadecimal)]
        }
    }

    /// A row as an object, with the column names as member names.
    init(_ row: SQLRows.Row, maxCharacters: Int = 2_048) {
        self = .object(zip(row.columns, row.values).map { ($0, JSON($1, maxCharacters: maxCharacters)) })
    }
}

extension String {
    /// The text, or its beginning and an ellipsis.
    func cut(to count: Int) -> String {
        guard utf8.count > count, let end = index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex
        else {
            return self
        }
        return self[..<end] + "…"
    }
}
