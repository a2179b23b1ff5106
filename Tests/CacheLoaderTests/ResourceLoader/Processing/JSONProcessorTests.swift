internal import TestSupport

@Suite struct JSONProcessorTests {
    struct Feed: Decodable, Equatable {
        struct Entry: Decodable, Equatable {
            let title: String
            let firstSeen: Date
        }
        let entries: [Entry]
    }

    struct Picky: Decodable {
        struct Refusal: Error, Equatable {}
        init(from decoder: any Decoder) throws { throw Refusal() }
    }

    private let type = "CacheLoaderTests.JSONProcessorTests.Feed"

    @Test(
        "Decodes a value in the configured formats", .requirement("F1"),
        arguments: [
            (.deferredToDate, .useDefaultKeys, #"{"entries":[{"title":"é","firstSeen":60}]}"#, 978_307_260.0),
            (.secondsSince1970, .useDefaultKeys, #"{"entries":[{"title":"é","firstSeen":60}]}"#, 60),
            (.millisecondsSince1970, .useDefaultKeys, #"{"entries":[{"title":"é","firstSeen":1500}]}"#, 1.5),
            (.iso8601, .useDefaultKeys, #"{"entries":[{"title":"é","firstSeen":"1970-01-01T00:01:00Z"}]}"#, 60),
            (.secondsSince1970, .convertFromSnakeCase, #"{"entries":[{"title":"é","first_seen":60,"more":[]}]}"#, 60),
        ] as [(JSONDecoder.DateDecodingStrategy, JSONDecoder.KeyDecodingStrategy, String, Double)])
    func value(
        dates: JSONDecoder.DateDecodingStrategy, keys: JSONDecoder.KeyDecodingStrategy, json: String, seconds: Double
    ) async throws {
        let feed = try await ProcessorSample.value(Data(json.utf8), as: .json(Feed.self, dates: dates, keys: keys))
        #expect(feed == Feed(entries: [.init(title: "é", firstSeen: Date(timeIntervalSince1970: seconds))]))
    }

    @Test(
        "An error contains the path of the value", .requirement("F1"),
        arguments: [
            (#"{}"#, "entries"),
            (#"{"entries":[{"title":"a","firstSeen":1},{"firstSeen":1}]}"#, "entries[1].title"),
            (#"{"entries":[{"title":7,"firstSeen":1}]}"#, "entries[0].title"),
            (#"{"entries":[{"title":null,"firstSeen":1}]}"#, "entries[0].title"),
            (#"{"entries":[{"title":"a","firstSeen":"soon"}]}"#, "entries[0].firstSeen"),
            (#"[]"#, ""),
            (#"{"entries":["#, ""),
            ("", ""),
            ("<html>", ""),
        ])
    func malformed(json: String, path: String) async throws {
        let error = await #expect(throws: ProcessingError.self) {
            try await ProcessorSample.value(Data(json.utf8), as: .json(Feed.self))
        }
        guard case .malformedJSON(type, path, let reason) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("An error that a type throws passes through", .requirement("F1"))
    func ownError() async {
        await #expect(throws: Picky.Refusal()) {
            try await ProcessorSample.value(Data("{}".utf8), as: .json(Picky.self))
        }
    }

    @Test("JSON that is nested too deeply throws, without a crash", .requirement("F1"))
    func nested() async {
        let json = String(repeating: "[", count: 100_000)
        await #expect(throws: ProcessingError.self) {
            try await ProcessorSample.value(Data(json.utf8), as: .json([Int].self))
        }
    }
}
