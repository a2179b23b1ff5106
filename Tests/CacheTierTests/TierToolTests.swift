import CacheTier
import TestSupport

/// The tool's commands that use a tier, run as a program.
@Suite("cachestore with a tier", .timeLimit(.minutes(5))) struct TierToolTests {
    private static let secret = String(repeating: "0f", count: 32)

    private func run(
        _ arguments: [String], tier url: String, secret: String? = secret, store: TemporaryDirectory? = nil
    ) async throws -> ProcessRunner.Output {
        var environment = ProcessInfo.processInfo.environment
        environment["CACHESTORE_TIER_KEY"] = secret
        let stored = store.map { ["--store", "\($0.path)/store"] } ?? []
        let hasDeadline = arguments[1] != "remove"
        let deadline = hasDeadline ? ["--tier-deadline", "30"] : []
        return try await ProcessRunner.run(
            ProcessRunner.builtProduct(named: "cachestore"),
            arguments + ["--tier", url] + deadline + stored, environment: environment)
    }

    @Test("get and prefetch with --tier share a response; tier get shows, tier remove removes it", .requirement("T1"))
    func sharing() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("hello".utf8, cacheControl: "max-age=600") }
        let list = try TemporaryDirectory()
        let urls = list.url.appending(path: "list")
        try Data("\(origin.url("/a"))\n".utf8).write(to: urls)
        let first = try await run(
            ["prefetch", urls.path(percentEncoded: false)], tier: server.url, store: TemporaryDirectory())
        #expect(first.exitCode == 0, "\(first.errorText)")
        let second = try await run(["get", origin.url("/a")], tier: server.url, store: TemporaryDirectory())
        #expect(second.exitCode == 0, "\(second.errorText)")
        #expect(second.text == "hello", "\(second.errorText)")
        let store = try TemporaryDirectory()
        let third = try await run(["prefetch", urls.path(percentEncoded: false)], tier: server.url, store: store)
        #expect(third.text.contains("0 from the network, 1 from the tier, 0 fresh"), "\(third.text)")
        let counted = try await ProcessRunner.run(
            ProcessRunner.builtProduct(named: "cachestore"), ["stats", "--store", "\(store.path)/store"])
        #expect(counted.text.contains(/from a shared tier +1/), "\(counted.text)")
        #expect(counted.text.contains("fresh, stale and from the tier, of all requests"))
        #expect(origin.requestCount == 1)
        let shown = try await run(["tier", "get", origin.url("/a")], tier: server.url)
        #expect(shown.exitCode == 0)
        #expect(shown.text == "hello")
        #expect(shown.errorText.contains("Age: "))
        let saved = list.url.appending(path: "saved").path(percentEncoded: false)
        let file = try await run(["tier", "get", origin.url("/a"), "-o", saved], tier: server.url)
        #expect(file.exitCode == 0 && file.standardOutput.isEmpty, "\(file.errorText)")
        #expect(try String(contentsOfFile: saved, encoding: .utf8) == "hello")
        #expect(shown.errorText.contains("Cache-Status: tier;hit;ttl="))
        let planned = try await run(["tier", "remove", "--url", origin.url("/a"), "--dry-run"], tier: server.url)
        #expect(planned.exitCode == 0, "\(planned.errorText)")
        #expect(try await run(["tier", "get", origin.url("/a")], tier: server.url).text == "hello")
        let removed = try await run(["tier", "remove", "--host", origin.authority], tier: server.url)
        #expect(removed.exitCode == 0, "\(removed.errorText)")
        let gone = try await run(["tier", "get", origin.url("/a")], tier: server.url)
        #expect(gone.exitCode == 1)
        #expect(gone.errorText.contains("no fresh response"))
        #expect(origin.requestCount == 1)
    }

    @Test("tier get only reads, even if the tier lacks the response")
    func getReads() async throws {
        let server = try await ObjectServer()
        let missing = try await run(["tier", "get", "http://127.0.0.1:9/a"], tier: server.url)
        #expect(missing.exitCode == 1)
        #expect(missing.errorText.contains("no fresh response"))
        #expect(!server.requests.isEmpty)
        #expect(server.requests.allSatisfy { $0.method == .get })
        #expect(server.objects.isEmpty)
    }

    @Test("get --verbose and prefetch print the counts of the tier")
    func counts() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("hello".utf8, cacheControl: "max-age=600") }
        let directory = try TemporaryDirectory()
        let list = directory.url.appending(path: "list")
        try Data("\(origin.url("/a"))\n".utf8).write(to: list)
        let path = list.path(percentEncoded: false)
        let first = try await run(["prefetch", path], tier: server.url, store: TemporaryDirectory())
        #expect(first.text.contains("\ntier: hits=0 misses=1 "))
        #expect(first.text.contains(" writes=1 "))
        let second = try await run(["prefetch", path, "--jsonl"], tier: server.url, store: TemporaryDirectory())
        #expect(second.text.contains(#""tier":{"#), "\(second.text)")
        #expect(second.text.contains(#""hits":1"#), "\(second.text)")
        #expect(second.text.contains(#""stale_answers":0"#))
        let third = try await run(["get", "-v", origin.url("/a")], tier: server.url, store: TemporaryDirectory())
        #expect(third.errorText.contains("tier: hits=1 misses=0 "))
        #expect(third.errorText.contains(" stale-answers=0 "))
        #expect(third.errorText.contains(" refused=0\n"))
        let plain = try await run(["get", origin.url("/a")], tier: server.url, store: TemporaryDirectory())
        #expect(!plain.errorText.contains("tier: "))
    }

    @Test("tier check writes, reads and deletes an object")
    func check() async throws {
        let server = try await ObjectServer()
        let sound = try await run(["tier", "check"], tier: server.url)
        #expect(sound.exitCode == 0, "\(sound.errorText)")
        #expect(sound.text.contains("the tier takes"), "\(sound.errorText)")
        #expect(sound.text.contains("deadline"))
        #expect(sound.text.contains("conditional writes  no"))
        #expect(server.objects.isEmpty)
        server.setFault { $0.method == .delete ? .status(.forbidden) : nil }
        let refused = try await run(["tier", "check"], tier: server.url)
        #expect(refused.exitCode == 2)
        #expect(refused.errorText.contains("DELETE 403"))
        let other = try await run(["tier", "get", "http://127.0.0.1/"], tier: "http://127.0.0.1:9")
        #expect(other.exitCode == 2)
        #expect(other.errorText.contains("does not answer"))
    }

    @Test(
        "tier remove needs exactly one scope, and refuses a host that no URL could have", .requirement("T8"),
        arguments: [
            [], ["--host", "http://example.com/"], ["--host", "example.com/"], ["--host", ""],
            ["--url", "example.com"],
            ["--tag", "one"], ["--tag", "one", "--host", "example.com/a"], ["--all", "--host", "example.com"],
            ["--tag", "one", "--origin", "https://user@example.com"],
        ])
    func removeChecks(_ arguments: [String]) async throws {
        let server = try await ObjectServer()
        let output = try await run(["tier", "remove"] + arguments, tier: server.url)
        #expect(output.exitCode == 64, "\(output.errorText)")
        #expect(server.objects.isEmpty)
    }

    @Test("tier remove takes the origin of a tag in any spelling", .requirement("T8"))
    func removeByTag() async throws {
        let server = try await ObjectServer()
        for origin in ["https://example.com", "HTTPS://Example.com:443/"] {
            let output = try await run(["tier", "remove", "--tag", "one", "--origin", origin], tier: server.url)
            #expect(output.exitCode == 0, "\(output.errorText)")
            // The object of the tag, and the one that changes with each removal.
            #expect(server.names("removed").count == 2)
        }
    }

    @Test(
        "without a secret the commands fail, and explain where it belongs", .requirement("T3"),
        arguments: [nil, "", "0f", "zz"])
    func secret(_ secret: String?) async throws {
        for arguments in [["tier", "check"], ["get", "http://127.0.0.1:9/"]] {
            let output = try await run(arguments, tier: "http://127.0.0.1:9", secret: secret)
            #expect(output.exitCode == 2)
            #expect(output.errorText.contains("CACHESTORE_TIER_KEY"))
        }
    }
}
