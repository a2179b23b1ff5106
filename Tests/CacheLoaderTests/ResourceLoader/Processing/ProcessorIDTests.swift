internal import TestSupport

@Suite struct ProcessorIDTests {
    private struct One: Decodable {}
    private struct Two: Decodable {}

    @Test("The text of an id is stable", .requirement("F1"))
    func text() {
        #expect(DataProcessor().id.description == "data@1")
        #expect(TextProcessor().id.description == "text@1")
        #expect(
            JSONProcessor([String: Int].self, version: 3).id.description
                == "json@3;dates=deferredToDate;keys=useDefaultKeys;type=Swift.Dictionary%3CSwift.String,%20Swift.Int%3E"
        )
        #expect(ProcessorID("a b", parameters: ["é": "+", "b": ""]).description == "a%20b@1;%C3%A9=%2B;b=")
        let chain = TextProcessor().then(ClosureProcessor(ProcessorID("count", version: 2)) { text, _ in text.count })
        #expect(chain.id.description == "text@1+count@2")
    }

    @Test("Ids differ wherever outputs may differ", .requirement("F1"))
    func distinct() {
        let ids = [
            ProcessorID("a"), ProcessorID("A"), ProcessorID("a", version: 2), ProcessorID("a", version: 11),
            ProcessorID("a@1"), ProcessorID("a@1", version: 11), ProcessorID(""), ProcessorID("a "),
            ProcessorID("a", parameters: ["b": "c"]), ProcessorID("a", parameters: ["b": "d"]),
            ProcessorID("a", parameters: ["c": "b"]), ProcessorID("a", parameters: ["b": ""]),
            ProcessorID("a", parameters: ["b": "c;d=e"]), ProcessorID("a", parameters: ["b": "c", "d": "e"]),
            ProcessorID("a", parameters: ["b=c": ""]), ProcessorID("a", parameters: ["b": "c%3B"]),
            ProcessorID("a", parameters: ["b": "c+d@1"]), ProcessorID("a@1+a"),
            // Canonically equivalent text with different bytes.
            ProcessorID("\u{E9}"), ProcessorID("e\u{301}"),
            ProcessorID("a").then(ProcessorID("a")), ProcessorID("a").then(ProcessorID("b")),
            ProcessorID("b").then(ProcessorID("a")), ProcessorID("a", parameters: ["b": "c"]).then(ProcessorID("d")),
            ProcessorID("a").then(ProcessorID("d", parameters: ["b": "c"])),
            JSONProcessor(One.self).id, JSONProcessor(Two.self).id, JSONProcessor([One].self).id,
            JSONProcessor(One.self, version: 2).id,
        ]
        #expect(Set(ids).count == ids.count)
        #expect(Set(ids.map(\.description)).count == ids.count)
        #expect(ids.allSatisfy { $0.description.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
    }

    @Test("Each strategy of a JSON decoder has a different id", .requirement("F1"))
    func strategies() {
        let dates: [JSONDecoder.DateDecodingStrategy] = [
            .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601, .custom { _ in Date() },
        ]
        let keys: [JSONDecoder.KeyDecodingStrategy] = [.useDefaultKeys, .convertFromSnakeCase, .custom { $0[0] }]
        let ids = Set(dates.flatMap { dates in keys.map { JSONProcessor(One.self, dates: dates, keys: $0).id } })
        #expect(ids.count == dates.count * keys.count)
        #expect(ids.contains(JSONProcessor(One.self).id))
    }

    @Test("Equal ids can be built in different ways", .requirement("F1"))
    func equal() {
        let settings = (0..<20).map { ("key\($0)", "value\($0)") }
        let one = ProcessorID("a", parameters: Dictionary(uniqueKeysWithValues: settings))
        let other = ProcessorID("a", parameters: Dictionary(uniqueKeysWithValues: settings.reversed()))
        #expect(one == other)
        let (a, b, c) = (ProcessorID("a"), ProcessorID("b"), ProcessorID("c"))
        #expect(a.then(b).then(c) == a.then(b.then(c)))
    }
}
