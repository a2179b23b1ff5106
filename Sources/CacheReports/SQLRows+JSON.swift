import ByteText
package import CacheStore

extension JSON {
    /// The largest integer that JavaScript represents exactly.
    private static let maxSafeInteger = 9_007_199_254_740_991

    /// A value of a query, for scripts. NULL becomes `null`, bytes become hexadecimal digits.
    package init(_ value: SQLValue) {
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

    /// A value of a query, for the page of the inspector. An integer that JavaScript would round becomes text.
    package init(_ value: SQLValue, maxCharacters: Int) {
        switch value {
        case .integer(let number) where number.magnitude > Self.maxSafeInteger: self = .text("\(number)")
        case .real(let number): self = .number(number)
        case .text(let text): self = .text(text.cut(to: maxCharacters))
        case .blob(let bytes): self = ["hex": .text(bytes.prefix(maxCharacters / 2).hexadecimal)]
        case .null, .integer: self.init(value)
        }
    }

    /// A row as an object, for the page of the inspector.
    package init(_ row: SQLRows.Row, maxCharacters: Int = 2_048) {
        self = .object(zip(row.columns, row.values).map { ($0, JSON($1, maxCharacters: maxCharacters)) })
    }

    /// Returns member names for columns. Adds a number to a repeated name, because an object needs distinct names. No
    /// such name is that of another column.
    package static func names(of columns: [String]) -> [String] {
        let given = Set(columns)
        var uses: [String: Int] = [:]
        return columns.map { name in
            var distinct = name
            repeat {
                let use = (uses[name] ?? 0) + 1
                uses[name] = use
                if use == 1 { return name }
                distinct = "\(name)_\(use)"
            } while given.contains(distinct)
            return distinct
        }
    }
}

extension SQLRows.Row {
    /// The row as the members of an object, for scripts.
    package var members: [(String, JSON)] { Array(zip(JSON.names(of: columns), values.map { JSON($0) })) }
}

extension String {
    /// The text, or its beginning and an ellipsis.
    package func cut(to count: Int) -> String {
        guard utf8.count > count, let end = index(startIndex, offsetBy: count, limitedBy: endIndex), end < endIndex
        else {
            return self
        }
        return self[..<end] + "…"
    }
}
