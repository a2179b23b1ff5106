extension String {
    /// The text with its control characters written as escapes: it takes one line, and what an origin sent cannot speak to
    /// the terminal.
    var inOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isControl: text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
