import ByteText
import CacheReports
import CacheStore

extension JSON {
    /// A value of a query. NULL becomes `null`, bytes become hexadecimal digits.
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        // SQLite has infinities, JSON does not.
        case .real(let number) where number.isInfinite: self = .text(number < 0 ? "-Infinity" : "Infinity")
        // A real keeps its fraction: `2.0`, not `2`.
        case .real(let number): self = .encoded(Array(String(number).utf8))
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .text(bytes.hexadecimal)
        }
    }

    /// Returns member names for columns. Adds a number to a repeated name, because an object needs distinct names.
    static func names(of columns: [String]) -> [String] {
        var uses: [String: Int] = [:]
        return columns.map { name in
            uses[name, default: 0] += 1
            let use = uses[name, default: 1]
            return use == 1 ? name : "\(name)_\(use)"
        }
    }
}

extension SQLRows.Row {
    /// The row as the members of an object.
    var members: [(String, JSON)] { Array(zip(JSON.names(of: columns), values.map { JSON($0) })) }
}
