/// The lines in the texts of the argument parser that it does not wrap: usage, and the help below an error.
package enum UsageText {
    private static let indent = 4

    /// Breaks these lines between words, and lines of usage between options.
    package static func wrapped(_ message: String, width: Int) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isUnwrapped = ["USAGE: ", "Usage: ", "Help: "].contains { line.hasPrefix($0) }
            return isUnwrapped && line.count > width ? broken(line, width) : String(line)
        }.joined(separator: "\n")
    }

    private static func broken(_ line: Substring, _ width: Int) -> String {
        var (lines, current) = ([String](), "")
        for word in words(of: line) {
            if current.isEmpty {
                current = word
            } else if current.count + 1 + word.count <= width {
                current += " \(word)"
            } else {
                lines.append(current)
                current = String(repeating: " ", count: indent) + word
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// The words between spaces. An optional part in brackets, and an option with its value, are one word.
    private static func words(of line: Substring) -> [String] {
        var words: [String] = []
        for part in line.split(separator: " ") {
            let isInside = words.last.map { last in
                last.hasPrefix("[") && !last.hasSuffix("]") || last.hasPrefix("--") && part.hasPrefix("<")
            }
            if isInside == true { words[words.count - 1] += " \(part)" } else { words.append(String(part)) }
        }
        return words
    }
}
