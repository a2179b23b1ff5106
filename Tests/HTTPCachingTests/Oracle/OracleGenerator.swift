internal import TestSupport

/// Generates requests and responses: mostly valid, sometimes unusual, and malformed in every third case.
struct OracleGenerator {
    /// The Sunday in 1994 that RFC 9110 uses.
    static let epoch: Int64 = 784_111_777

    private var random: SeededGenerator
    /// Whether the current case breaks no grammar.
    private var isClean = true

    init(_ random: SeededGenerator) { self.random = random }

    /// Another case.
    mutating func next() -> OracleCase {
        isClean = !chance(3)
        var example = OracleCase()
        example.isShared = chance(2)
        setTimes(&example)
        example.method = chance(8) ? pick(["HEAD", "POST", "PUT", "DELETE", "get"]) : "GET"
        example.status =
            chance(3)
            ? pick([100, 103, 201, 203, 204, 206, 301, 302, 304, 307, 308, 404, 410, 412, 416, 421, 500, 503, 504, 599])
            : 200
        addRequest(&example)
        addResponse(&example)
        return example
    }

    /// The same request with another response.
    mutating func sibling(of example: OracleCase) -> OracleCase {
        var sibling = next()
        sibling.isShared = example.isShared
        sibling.method = example.method
        sibling.request = example.request
        // The dates of the response relate to its own times.
        sibling.responseTime = example.responseTime
        sibling.requestTime = example.requestTime
        sibling.now = example.now
        sibling.response.removeAll { $0.name.lowercased() == "date" }
        return sibling
    }

    private mutating func setTimes(_ example: inout OracleCase) {
        example.responseTime = Self.epoch + number(0...1000)
        example.requestTime = example.responseTime - (chance(3) ? number(0...12) : 0)
        example.now = example.responseTime + (chance(5) ? number(0...5000) : number(0...15))
        if chance(12) { example.now = example.responseTime - number(1...9) }
        if chance(40) { example.requestTime = example.responseTime + 5 }
    }

    // MARK: Requests

    private mutating func addRequest(_ example: inout OracleCase) {
        var directives: [String] = []
        if chance(2) {
            for _ in 0..<number(1...2) {
                switch number(0...9) {
                case 0, 1: directives.append(numbered("max-age"))
                case 2: directives.append(numbered("min-fresh"))
                case 3, 4: directives.append(numbered("max-stale"))
                case 5: directives.append(flag("max-stale"))
                case 6: directives.append(flag(pick(["no-cache", "no-store"])))
                case 7: directives.append(flag("only-if-cached"))
                case 8: directives.append(numbered("stale-if-error"))
                default: directives.append(pick(["x", "x=1", #"ext="no-cache, max-age=0""#]))
                }
            }
        }
        addControl(directives, to: &example.request)
        if chance(12) { add("Pragma", pick(["no-cache", "No-Cache", "x, no-cache", "x"]), &example.request) }
        if chance(20) { add("If-None-Match", #""a""#, &example.request) }
        if chance(40) { add(pick(["If-Match", "if-unmodified-since"]), #""a""#, &example.request) }
        if chance(10) { add("Authorization", "Basic eA==", &example.request) }
        if chance(3) { addVariant(&example.request) }
        example.storedRequest = example.request.filter {
            ["X-Variant", "x-variant", "Authorization"].contains($0.name)
        }
        if chance(10) { example.storedRequest = [] }
        if chance(10) { addVariant(&example.storedRequest) }
    }

    private mutating func addVariant(_ lines: inout [OracleCase.Line]) {
        for _ in 0..<number(1...2) { add(pick(["X-Variant", "x-variant"]), pick(["a", "b", " a "]), &lines) }
    }

    // MARK: Responses

    private mutating func addResponse(_ example: inout OracleCase) {
        var directives: [String] = []
        if !chance(8) {
            for _ in 0..<number(0...4) { directives.append(responseDirective()) }
        }
        addControl(directives, to: &example.response)
        if chance(3) { addDate(&example) }
        if chance(4) { addExpires(&example) }
        if chance(3) { addLastModified(&example) }
        if chance(5) {
            add(
                "Age",
                chance(3) ? pick(["3, 900", "x", "-5", "5.0", "", " 7\t", ",9", "99999999999999999999"]) : digits(),
                &example.response)
            if chance(6) { add("age", digits(), &example.response) }
        }
        if chance(4) {
            add("Vary", pick(["X-Variant", "x-variant", "Accept, X-VARIANT", "", "*", "Accept, *"]), &example.response)
        }
        if chance(8) { add("Pragma", "no-cache", &example.response) }
        if chance(4) { add("ETag", #""a""#, &example.response) }
        if chance(4) { add("X-Secret", "s", &example.response) }
        if chance(20) { add("Content-Location", "/", &example.response) }
        if chance(2) { example.response.shuffle(using: &random) }
    }

    private mutating func responseDirective() -> String {
        switch number(0...19) {
        case 0...4: numbered("max-age")
        case 5: numbered("s-maxage")
        case 6, 7: numbered("stale-while-revalidate")
        case 8: numbered("stale-if-error")
        case 9: flag("must-revalidate")
        case 10: flag(pick(["proxy-revalidate", "must-understand"]))
        case 11: flag("public")
        case 12: flag("private")
        case 13: flag("immutable")
        case 14: pick(["no-cache", "No-Cache", "NO-CACHE"])
        case 15: #"no-cache="x-secret""#
        case 16: pick(["no-store", "No-Store", #"private="x-secret""#, "x=1"])
        default:
            pick(["x", "x=y", #"ext="max-age=9, no-store""#, #"e="no-cache\",private""#, "max-agex=5", "no-cachex"])
        }
    }

    private mutating func addDate(_ example: inout OracleCase) {
        let seconds = example.responseTime + number(-15...15)
        let isJunk = chance(8)
        add("Date", isJunk ? pick(Self.noDates) : date(seconds, &example), &example.response)
    }

    private mutating func addExpires(_ example: inout OracleCase) {
        var seconds = example.responseTime + number(-5...30)
        if chance(12) { seconds = pick([0, 2_147_483_648, 4_294_967_296, 253_402_300_799]) }
        add("Expires", chance(6) ? pick(Self.noDates) : date(seconds, &example), &example.response)
        if chance(12) { add("expires", date(seconds, &example), &example.response) }
    }

    private mutating func addLastModified(_ example: inout OracleCase) {
        let seconds = example.responseTime - pick([0, 9, 10, 55, 99, 100, 155, 1000, 86_400, 100_000_000])
        add("Last-Modified", chance(8) ? pick(["0", "never", ""]) : date(seconds, &example), &example.response)
    }

    /// A text in none of the three formats that a person might still read as a date.
    private static let noDates = [
        "0", "-1", "", "never", "Sun, 06 Nov 2037 08:49:37", "Sun, 06 Nov 2037 08:49:37 UTC",
        "Sun 06 Nov 2037 08:49:37 GMT", "Sun, 6 Nov 2037 08:49:37 GMT", "Sun,  06 Nov 2037 08:49:37 GMT",
        "Sun, 06-Nov-2037 08:49:37 GMT", "Sun, 06 Nov 2037 8:49:37 GMT", "Sun, 06 Nov 2037 08.49.37 GMT",
    ]

    private mutating func date(_ seconds: Int64, _ example: inout OracleCase) -> String {
        // Two-digit years stand for near years.
        let isNear = abs(seconds - Self.epoch) < 1_000_000_000
        var text = OracleCalendar.text(seconds, isNear ? pick(OracleCalendar.Form.allCases) : .fixdate)
        if chance(10) { text = chance(2) ? text.lowercased() : text.uppercased() }
        example.dates.append((text, seconds))
        return chance(10) ? " \(text)\t" : text
    }

    // MARK: Notation

    private mutating func numbered(_ name: String) -> String {
        let digits = digits()
        if !isClean, chance(4) {
            return flag(name)
                + pick([
                    "=x", "=-1", "=1.5", "=5s", "=", " =9", "= 9", "=9; x", "=\"9", "='9'", "=9 x", "", "=\"\"", "==9",
                ])
        }
        if chance(6) { return "\(flag(name))=\"\(digits)\"" }
        return "\(flag(name))=\(digits)"
    }

    private mutating func flag(_ name: String) -> String {
        if !isClean, chance(12) { return name + pick(["=x", "=\"x, y\"", ";", "=", " x", "\"", "=\"a b\""]) }
        return chance(5) ? (chance(2) ? name.uppercased() : name.capitalized) : name
    }

    private mutating func digits() -> String {
        switch number(0...19) {
        case 0: pick(["2147483647", "2147483648", "2147483649", "99999999999", String(repeating: "9", count: 40)])
        case 1: "00\(number(0...20))"
        case 2...4: "\(number(10...5000))"
        default: "\(number(0...15))"
        }
    }

    private mutating func addControl(_ directives: [String], to lines: inout [OracleCase.Line]) {
        guard !directives.isEmpty else { return }
        var values = [chance(20) ? pick([",", " , ", ",,\t"]) : ""]
        for (index, directive) in directives.enumerated() {
            if index > 0, chance(6) {
                values.append("")
            } else if index > 0 {
                values[values.count - 1] += chance(4) ? pick([",", " ,\t", ",,", ", ,"]) : ", "
            }
            values[values.count - 1] += directive
        }
        if chance(20) { values[values.count - 1] += pick([",", " ", "\t, "]) }
        for value in values {
            add(pick(["Cache-Control", "cache-control"]), !isClean && chance(3) ? damaged(value) : value, &lines)
        }
    }

    /// The text with one byte added, removed or changed.
    private mutating func damaged(_ text: String) -> String {
        var bytes = Array(text.utf8)
        let position = Int(number(0...Int64(bytes.count)))
        let byte = pick(Array("\"\\;,= \tx0-é".utf8))
        if position == bytes.count || chance(3) {
            bytes.insert(byte, at: position)
        } else if chance(2) {
            bytes.remove(at: position)
        } else {
            bytes[position] = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func add(_ name: String, _ value: String, _ lines: inout [OracleCase.Line]) {
        lines.append(OracleCase.Line(name: name, value: value))
    }

    // MARK: Randomness

    private mutating func chance(_ count: UInt64) -> Bool { random.next(upperBound: count) == 0 }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &random) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(random.next(upperBound: UInt64(elements.count)))]
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
