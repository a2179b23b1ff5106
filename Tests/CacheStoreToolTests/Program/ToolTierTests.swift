import TestSupport

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
        static let commands = [["check"], ["get", "http://a.invalid/", "--tier-deadline", "30"], ["remove", "--all"]]

        @Test("Commands reach the engine through the proxy of the environment", arguments: commands)
        func proxy(_ command: [String]) async throws {
            let proxy = try await LoopbackOrigin { _ in .status(.notFound) }
            let arguments = ["tier"] + command + ["--tier", "http://nowhere.invalid/tier"]
            _ = try await run(arguments, ["http_proxy": proxy.url(""), "no_proxy": ""])
            #expect(proxy.requestCount > 0)
            #expect(proxy.requests.allSatisfy { $0.path.hasPrefix("http://nowhere.invalid/tier/") })
            let wrong = try await run(arguments, ["http_proxy": "ftp://a.test"])
            wrong.expect(2, error: "http_proxy names a proxy of the scheme ftp")
        }

        @Test("get also reaches the engine through the proxy, except for excepted hosts")
        func proxyOfGet() async throws {
            let proxy = try await LoopbackOrigin { _ in .status(.notFound) }
            let command = [
                "get", "http://origin.invalid/", "--store", tool.store, "--tier-deadline", "30", "--tier",
                "http://tier.invalid/",
            ]
            for (exception, hosts) in [("", ["origin", "tier"]), ("tier.invalid", ["origin"])] {
                proxy.resetRequests()
                _ = try await run(command, ["http_proxy": proxy.url(""), "no_proxy": exception])
                let asked = Set(proxy.requests.compactMap { URL(string: $0.path)?.host() })
                #expect(asked.sorted() == hosts.map { "\($0).invalid" })
            }
        }

        #if !canImport(Darwin)
        @Test(
            "--cacert trusts a private authority, --insecure a host's certificate, also for the engine of a tier",
            .requirement("K5"),
            .enabled(if: TLSOrigin.isInstalled), arguments: commands)
        func rootCertificates(_ command: [String]) async throws {
            let engine = try await TLSOrigin(
                locations: "location /tier { access_log \(tool.store).requests; return 404; }")
            func count() -> Int {
                let log = try? String(contentsOfFile: "\(tool.store).requests", encoding: .utf8)
                return log?.split(separator: "\n").count ?? 0
            }
            let root = try tool.file("root.pem", Data(TestCertificates.authority.utf8))
            let arguments = ["tier"] + command + ["--tier", engine.url("/tier")]
            #expect(try await run(arguments).exitCode == 2)
            #expect(count() == 0)
            _ = try await run(arguments + ["--cacert", root])
            let trusted = count()
            #expect(trusted > 0)
            let insecure = try await run(arguments + ["--insecure", "127.0.0.1"])
            #expect(count() > trusted)
            #expect(insecure.errorText.contains("WARNING: the certificate of 127.0.0.1 is not checked"))
        }
        #endif

        @Test(
            "An option without effect is an error",
            arguments: [
                (["get", "http://a.invalid/", "--tier-partition", "a"], "--tier-partition needs --tier"),
                (["get", "http://a.invalid/", "--tier-deadline", "1"], "--tier-deadline needs --tier"),
                (["prefetch", "list", "--tier-deadline", "1"], "--tier-deadline needs --tier"),
                (["tier", "check", "--tier", "http://a.invalid/", "--tier-partition", "a"], "--tier-partition"),
                (["tier", "remove", "--all", "--tier", "http://a/", "--tier-deadline", "1"], "--tier-deadline"),
                (["tier", "check", "--tier", "http://a.invalid/", "--tier-deadline", "0"], "between 0 and 3600"),
                (["tier", "check"], "--tier"), (["tier", "remove", "--all"], "--tier"),
            ])
        func usage(_ arguments: [String], _ message: String) async throws {
            try await run(arguments).expect(64, error: message)
        }
    }
}
