import CacheReports
import TestSupport

@Suite("URLListParser")
struct URLListParserTests {
    private func lines(_ pieces: [[UInt8]]) -> [URLListLine] {
        var parser = URLListParser()
        var lines: [URLListLine] = []
        for piece in pieces { parser.add(piece) { lines.append($0) } }
        lines.append(parser.end())
        return lines.filter { $0.content != .blank }
    }

    struct Case: CustomTestStringConvertible {
        let list: [UInt8]
        let expected: [URLListLine]

        var testDescription: String { String(decoding: list.prefix(60), as: UTF8.self).debugDescription }

        init(_ list: String, _ expected: [Int: URLListLine.Content]) { self.init(Array(list.utf8), expected) }

        init(_ list: [UInt8], _ expected: [Int: URLListLine.Content]) {
            self.list = list
            self.expected = expected.sorted { $0.key < $1.key }.map { URLListLine(number: $0.key, $0.value) }
        }
    }

    @Test(
        "Parses a list alike in chunks of any size",
        arguments: [
            Case("", [:]),
            Case("\n\n", [:]),
            Case("http://a/", [1: .url("http://a/")]),
            Case("http://a/\n", [1: .url("http://a/")]),
            Case("http://a/\r\nhttp://b/\r\n", [1: .url("http://a/"), 2: .url("http://b/")]),
            Case("# c\n\n  # c\n\thttp://a/#f \n#", [4: .url("http://a/#f")]),
            Case("\u{FEFF}http://a/\n\u{FEFF}http://b/", [1: .url("http://a/"), 2: .url("\u{FEFF}http://b/")]),
            Case("\u{FEFF}# c\nx y\n", [2: .url("x y")]),
            Case("http://ä/", [1: .url("http://ä/")]),
            Case([0x68, 0xFF, 0x0A, 0x68], [1: .malformed("not UTF-8"), 2: .url("h")]),
            Case(
                String(repeating: "x", count: 65_537) + "\nhttp://a/",
                [1: .malformed("longer than 65536 bytes"), 2: .url("http://a/")]),
            Case(
                String(repeating: "x", count: 65_536) + "\nhttp://a/",
                [1: .url(String(repeating: "x", count: 65_536)), 2: .url("http://a/")]),
            Case(String(repeating: " ", count: 200_000), [1: .malformed("longer than 65536 bytes")]),
        ])
    func parsing(_ c: Case) {
        #expect(lines([c.list]) == c.expected)
        #expect(lines(c.list.map { [$0] }) == c.expected)
        let middle = c.list.count / 2
        #expect(lines([Array(c.list[..<middle]), [], Array(c.list[middle...])]) == c.expected)
    }
}
