import Logging
import TestSupport

@Suite("LogOptions", .timeLimit(.minutes(5))) struct LogOptionsTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let options: LogOptions
        /// Messages and their levels.
        let messages: [String: Logger.Level]

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "requests", options: .requests, messages: ["asking the origin": .debug]),
        Case(
            name: "responses", options: .responses,
            messages: [
                "the origin has answered": .debug, "a stored response answers": .debug,
                "a stored response answers in place of the origin": .debug,
            ]),
        Case(
            name: "errors", options: .errors,
            messages: [
                "the origin has answered with an error": .info, "the origin could not be asked": .info,
                "could not look up a response": .warning, "did not store a response": .warning,
            ]),
        Case(name: "misses", options: .misses, messages: ["nothing stored answers": .debug]),
        Case(name: "eviction", options: .eviction, messages: ["evicted values from memory": .debug]),
        Case(name: "pressure", options: .pressure, messages: ["memory is short": .info]),
    ]

    private let log = EventLog()

    /// Runs every kind of load that logs a message, with secrets in every place.
    private func play(_ options: LogOptions?, logger: Logger? = nil) async throws {
        let pressure = MemoryPressureSource()
        let gate = Gate()
        let transport = ScriptedTransport { (request, _) throws(TransportError) in
            let path = request.path ?? ""
            if path.hasPrefix("/missing") { return .reply(404, [:], "secret") }
            if path.hasPrefix("/broken") || request.headerFields[.ifNoneMatch] != nil {
                throw TransportError(.cannotConnect, message: "secret")
            }
            if path.hasPrefix("/removed") { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"secret\"", .setCookie: "secret"], "secret")
        }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            if let options { configuration.logOptions = options }
            if let logger { configuration.logger = logger }
            configuration.memoryLimit = 2_500
            configuration.memoryPressure = pressure
        }
        let loader = fixture.loader
        func load(_ path: String) async -> ResponseSource? {
            let request = ResourceRequest(
                "https://example.com\(path)?token=secret",
                headerFields: [.authorization: "Bearer secret", .cookie: "secret"])
            return try? await loader.load(request).source
        }
        #expect(await load("/a") == .network)
        #expect(await load("/b") == .network)
        pressure.signal(.critical)
        #expect(await load("/a") == .disk)
        fixture.clock.advance(by: 100)
        #expect(await load("/a") == .disk, "it stands in")
        #expect(await load("/missing") == nil)
        #expect(await load("/broken") == nil)
        let removed = Task { await load("/removed") }
        await gate.reached(1)
        try await loader.remove("https://example.com/removed?token=secret")
        gate.open()
        #expect(await removed.value == .network)
        fixture.store.close()
        #expect(await load("/c") == .network)
    }

    @Test("Each option enables its messages, at its level", .requirement("I8"), arguments: cases)
    func each(_ option: Case) async throws {
        try await play(option.options, logger: log.logger)
        let levels = Dictionary(log.entries.map { ($0.message, $0.level) }) { max($0, $1) }
        for (message, level) in option.messages { #expect(levels[message] == level, "\(message)") }
        // Failed lookups and commits have several messages.
        let others = Set(levels.keys).subtracting(option.messages.keys)
        #expect(others.allSatisfy { option.options == .errors && $0.hasPrefix("could not ") }, "\(others)")
    }

    @Test("All options enable every message, and none enables none; the default is errors", .requirement("I8"))
    func combinations() async throws {
        try await play([], logger: log.logger)
        #expect(log.lines.isEmpty)
        try await play(.all, logger: log.logger)
        let messages = Set(log.entries.map(\.message))
        for option in Self.cases { #expect(messages.isSuperset(of: option.messages.keys), "\(option.name)") }
        let errors = EventLog()
        try await play(nil, logger: errors.logger)
        #expect(!errors.entries.isEmpty)
        #expect(!errors.entries.contains { $0.message == "asking the origin" || $0.message == "memory is short" })
    }

    @Test("Logs nothing without a logger", .requirement("I8"))
    func silence() async throws {
        for logger in [ResourceLoader.Configuration().logger, HTTPCache.Configuration().logger] {
            var text = ""
            dump(logger, to: &text)
            #expect(text.contains("SwiftLogNoOpLogHandler"))
        }
        #expect(ResourceLoader.Configuration().logOptions == .errors)
        #expect(HTTPCache.Configuration().logOptions == .errors)
    }

    @Test("Messages and keys are constant, and the metadata contain no secret", .requirement("I8"))
    func secrets() async throws {
        try await play(.all, logger: log.logger)
        #expect(!log.lines.contains { $0.contains("secret") }, "\(log.lines.filter { $0.contains("secret") })")
        let keys: Set = ["url", "method", "reason", "status", "error", "age", "stale", "values", "cost", "pressure"]
        for entry in log.entries { #expect(keys.isSuperset(of: entry.metadata.keys), "\(entry.metadata)") }
        let asked = log.entries.first { $0.message == "asking the origin" }
        #expect(asked?.metadata == ["method": "GET", "url": "https://example.com/a?…", "reason": "uri-miss"])
    }

    @Test("A change of the options applies to memory, too", .requirement("I8"))
    func change() async throws {
        let pressure = MemoryPressureSource()
        let transport = ScriptedTransport { _, _ in .reply(200) }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.logger = log.logger
            configuration.memoryLimit = 10
            configuration.memoryPressure = pressure
        }
        pressure.signal(.warning)
        #expect(log.lines.isEmpty)
        fixture.loader.configuration.logOptions.insert(.pressure)
        pressure.signal(.warning)
        #expect(log.entries.map(\.message) == ["memory is short"])
    }
}
