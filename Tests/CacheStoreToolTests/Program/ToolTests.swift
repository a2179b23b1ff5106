import TestSupport

/// The tests of the command-line tool. They run its real binary, against a real origin.
///
/// Each suite is serialized: hundreds of concurrent processes would slow down tests that measure time.
@Suite("cachestore", .timeLimit(.minutes(5)))
enum ToolTests {}

/// The built `cachestore`, with its own store.
struct Tool: Sendable {
    let directory: TemporaryDirectory
    private let executable: URL

    init() throws {
        directory = try TemporaryDirectory()
        executable = try ProcessRunner.builtProduct(named: "cachestore")
    }

    /// The path of the store, existing or not.
    var store: String { "\(directory.path)/store" }

    /// Runs a command on the store.
    func callAsFunction(_ arguments: String..., input: String = "") async throws -> ProcessRunner.Output {
        try await ProcessRunner.run(executable, arguments + ["--store", store], input: Data(input.utf8))
    }

    /// Runs a command without adding `--store`.
    func raw(_ arguments: [String], environment: [String: String]? = nil) async throws -> ProcessRunner.Output {
        try await ProcessRunner.run(executable, arguments, environment: environment)
    }

    /// Runs a command on the store, with a terminal as its standard output.
    func onTerminal(width: Int = 80, _ arguments: String...) async throws -> ProcessRunner.Output {
        try await ProcessRunner.run(executable, arguments + ["--store", store], onTerminalOfWidth: width)
    }

    /// Runs a command without adding `--store`, with a terminal as its standard output and its standard error.
    func screen(
        width: Int = 80, _ arguments: [String], environment: [String: String],
        seeing: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> String {
        try await ProcessRunner.run(
            executable, arguments, environment: environment, onTerminalOfWidth: width, isErrorOnTerminal: true,
            seeing: seeing
        ).text
    }

    /// Runs a shell script that finds the tool as `$0`, a file name as `$1` and so on, and its store as `$STORE`.
    func shell(_ script: String, _ arguments: String...) async throws -> ProcessRunner.Output {
        var environment = ProcessInfo.processInfo.environment
        environment["STORE"] = store
        return try await ProcessRunner.run(
            URL(filePath: "/bin/sh"), ["-c", script, executable.path(percentEncoded: false)] + arguments,
            environment: environment)
    }

    /// Creates a file next to the store and returns its path.
    func file(_ name: String, _ content: some DataProtocol) throws -> String {
        let url = directory.url.appending(path: name)
        try Data(content).write(to: url)
        return url.path(percentEncoded: false)
    }

    /// The rows of a query. The test itself reads them: a process costs more than the query.
    func rows(_ sql: String) throws -> [[String: Printed]] {
        try ResponseStore.query(sql, inStoreAt: URL(filePath: store)).map { row in
            Dictionary(uniqueKeysWithValues: zip(row.columns, row.values.map(Printed.init)))
        }
    }

    /// Stores 1000 bytes for `/a`, `/b` and `/c` of `http://a.test`, in this order, or other bodies for other URLs.
    func fill(
        _ bodies: [(url: String, body: String)] = ["a", "b", "c"].map {
            ("http://a.test/\($0)", String(repeating: $0, count: 1000))
        }
    ) throws {
        let store = try ResponseStore(directory: URL(filePath: store))
        defer { store.close() }
        for (url, body) in bodies {
            let now = Date()
            try store.insert(
                Data(body.utf8), metadata: EntryMetadata(requestedAt: now, receivedAt: now), for: CacheKey(url: url))
        }
    }

    /// Stores one byte for a URL and a variant of it.
    func insert(_ url: String, variant: String) throws {
        let store = try ResponseStore(directory: URL(filePath: store))
        defer { store.close() }
        let now = Date()
        try store.insert(
            Data([1]), metadata: EntryMetadata(variant: variant, requestedAt: now, receivedAt: now),
            for: CacheKey(url: url))
    }

    /// The stored body of a URL, as the tool serves it without a network, or `nil`.
    func stored(_ url: String) async throws -> String? {
        let output = try await self("get", url, "--policy", "cache-only")
        return output.exitCode == 0 ? output.text : nil
    }
}

/// A value in the JSON output of the tool.
enum Printed: Hashable, Decodable {
    case null
    case number(Double)
    case text(String)

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }
}

extension Printed {
    /// A value of the index.
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .number(Double(number))
        case .real(let number): self = .number(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension Printed: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    init(integerLiteral value: Int) { self = .number(Double(value)) }
    init(stringLiteral value: String) { self = .text(value) }
    init(nilLiteral: ()) { self = .null }
}

extension ProcessRunner.Output {
    /// The standard output, decoded.
    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try #require(exitCode == 0, "\(errorText)")
        return try JSONDecoder().decode(Value.self, from: standardOutput)
    }

    /// The lines of the standard output.
    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }

    /// Expects an exit code, no signal, and an error in one line that contains `words`, or no error for `nil`.
    func expect(
        _ exitCode: Int32, error words: String?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(!wasKilled, "\(errorText)", sourceLocation: sourceLocation)
        #expect(self.exitCode == exitCode, "\(errorText)", sourceLocation: sourceLocation)
        guard let words else {
            #expect(errorText.isEmpty, sourceLocation: sourceLocation)
            return
        }
        #expect(errorText.contains(words), sourceLocation: sourceLocation)
        if exitCode < 64 {
            #expect(errorText.hasPrefix("cachestore: "), sourceLocation: sourceLocation)
            #expect(errorText.firstIndex(of: "\n") == errorText.indices.last, sourceLocation: sourceLocation)
        }
    }
}
