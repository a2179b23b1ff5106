import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

extension ToolTests {
    /// The connections and the options of commands with a shared tier.
    @Suite("Connections to a tier")
    struct TierConnections {
        let tool: Tool

        init() throws { tool = try Tool() }

        private func run(
            _ arguments: [String], _ variables: [String: String] = [:]
        ) async throws -> ProcessRunner.Output {
            var environment = ProcessInfo.processInfo.environment
            environment["CACHESTORE_TIER_KEY"] = String(repeating: "0f", count: 32)
            environment.merge(variables) { $1 }
            return try await tool.raw(arguments, environment: environment)
        }

        /// Each command that needs a tier.
        static let commands = [
            ["check"], ["stats", "--tier-deadline", "30"], ["get", "http://a.invalid/", "--tier-deadline", "30"],
            ["remove"],
        ]

        @Test("The engine is reached through the proxy of the environment", arguments: commands)
        func proxy(_ command: [String]) async throws {
            let proxy = try await LoopbackOrigin { _ in .status(.notFound) }
            let arguments = ["tier"] + command + ["--tier", "http://nowhere.invalid/tier"]
            _ = try await run(arguments, ["http_proxy": proxy.url(""), "no_proxy": ""])
            let requests = Set(proxy.requests.map { "\($0.method) \($0.path)" })
            #expect(requests == ["CONNECT nowhere.invalid:80"])
            let wrong = try await run(arguments, ["http_proxy": "ftp://a.test"])
            wrong.expect(2, error: "http_proxy names a proxy of the scheme ftp")
        }

        @Test("So is the engine of get, but not one that the environment excepts")
        func proxyOfGet() async throws {
            let proxy = try await LoopbackOrigin { _ in .status(.notFound) }
            let command = [
                "get", "http://origin.invalid/", "--store", tool.store, "--tier-deadline", "30", "--tier",
                "http://tier.invalid/",
            ]
            for (exception, hosts) in [("", ["origin", "tier"]), ("tier.invalid", ["origin"])] {
                proxy.resetRequests()
                _ = try await run(command, ["http_proxy": proxy.url(""), "no_proxy": exception])
                #expect(Set(proxy.requests.map(\.path)).sorted() == hosts.map { "\($0).invalid:80" })
            }
        }

        #if AsyncHTTPClient
        @Test(
            "K5: --cacert trusts a private authority, --insecure any, also for the engine of a tier",
            .enabled(if: DefaultTransport.self as Any.Type == AsyncHTTPClientTransport.self), arguments: commands)
        func rootCertificates(_ command: [String]) async throws {
            let engine = try await TLSOrigin(offering: ["h2", "http/1.1"])
            let root = try tool.file("root.pem", Data(TestCertificates.authority.utf8))
            let arguments = ["tier"] + command + ["--tier", engine.url("/tier")]
            #expect(try await run(arguments).exitCode == 2)
            #expect(engine.requestCount == 0)
            _ = try await run(arguments + ["--cacert", root])
            let count = engine.requestCount
            #expect(count > 0)
            let insecure = try await run(arguments + ["--insecure"])
            #expect(engine.requestCount > count)
            #expect(insecure.errorText.contains("WARNING: --insecure checks no certificates"))
            try await run(arguments + ["--insecure", "--cacert", root]).expect(64, error: "--insecure checks no")
            await engine.stop()
        }
        #endif

        @Test(
            "An option without effect is an error",
            arguments: [
                (["get", "http://a.invalid/", "--tier-partition", "a"], "--tier-partition needs --tier"),
                (["get", "http://a.invalid/", "--tier-deadline", "1"], "--tier-deadline needs --tier"),
                (["prefetch", "list", "--tier-deadline", "1"], "--tier-deadline needs --tier"),
                (["tier", "check", "--tier", "http://a.invalid/", "--tier-deadline", "1"], "--tier-deadline"),
                (["tier", "check", "--tier", "http://a.invalid/", "--tier-partition", "a"], "--tier-partition"),
                (["tier", "remove", "--tier", "http://a.invalid/", "--tier-deadline", "1"], "--tier-deadline"),
                (["tier", "stats", "--tier", "http://a.invalid/", "--tier-deadline", "0"], "between 0 and 3600"),
                (["tier", "check"], "--tier"), (["tier", "remove"], "--tier"),
            ])
        func usage(_ arguments: [String], _ message: String) async throws {
            try await run(arguments).expect(64, error: message)
        }
    }
}
