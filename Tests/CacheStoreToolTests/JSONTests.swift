import CacheReports
import TestSupport

@Suite("JSON")
struct JSONTests {
    private struct Sample: Encodable {
        let text = "/<&>\"\\\n\r\té\u{1}\u{1F}"
        let reals = [2.0, -0.5, 0.1, 1e300]
        let integers: [Int64] = [.min, .max]
        let emptyArray: [Int] = []
        let emptyObject: [String: Int] = [:]
        let nested = [["is": true], ["is": false]]
    }

    private let sample: JSON = .object(omittingNulls: [
        "text": "/<&>\"\\\n\r\té\u{1}\u{1F}", "reals": [.number(2), .number(-0.5), .number(0.1), .number(1e300)],
        "integers": [.integer(Int64.min), .integer(Int64.max)], "emptyArray": [], "emptyObject": .object([]),
        "nested": [["is": true], ["is": false]], "absent": nil,
    ])

    @Test("The JSON for scripts equals that of Foundation's encoder")
    func scripts() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for format in [JSON.Format.line, .pretty] {
            if format == .pretty { encoder.outputFormatting.insert(.prettyPrinted) }
            let expected = String(decoding: try encoder.encode(Sample()), as: UTF8.self)
            #expect(String(decoding: sample.bytes(format), as: UTF8.self) == expected)
        }
    }

    @Test(
        "Columns have distinct names, and a name that occurs once stays",
        arguments: [
            (["a", "b", "a"], ["a", "b", "a_2"]), (["a", "a_2", "a"], ["a", "a_2", "a_3"]),
            (["a", "a", "a_2"], ["a", "a_3", "a_2"]), (["a_2", "a_2", "a", "a"], ["a_2", "a_2_2", "a", "a_3"]),
        ])
    func names(_ columns: [String], _ expected: [String]) {
        #expect(JSON.names(of: columns) == expected)
    }

    @Test("The JSON for the page contains no markup, and keeps the order of the members")
    func page() {
        let json: JSON = ["b": "<&>\u{7F}\u{9F}", "a": .number(2), "c": nil]
        #expect(
            String(decoding: json.bytes(.page), as: UTF8.self)
                == #"{"b":"\u003c\u0026\u003e\u007f\u009f","a":2.0,"c":null}"#)
    }
}
