extension String {
    /// The text on one line, with control characters escaped, so that text from an origin cannot control the terminal.
    var inOneLine: String {
        guard mayHaveControls else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.properties.generalCategory == .control:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Whether the text may have controls: U+0000–1F or U+007F–9F. From U+0080 on, these are C2 and another byte.
    private var mayHaveControls: Bool {
        utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }
    }
}
