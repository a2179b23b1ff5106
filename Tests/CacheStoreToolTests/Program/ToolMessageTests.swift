import TestSupport

extension ToolTests {
    /// An invalid command line gets an error with a reason, and a suggestion if possible.
    @Suite("messages", .serialized)
    struct Messages {
        let tool: Tool

        init() throws {
            tool = try Tool()
            try tool.fill([("http://a.test/", "a"), ("http://a.test:8080/", "b"), ("https://a.test/", "c")])
        }

        @Test(
            "A mistyped command",
            arguments: [
                ("lsit", "There is no command 'lsit'. Did you mean 'list'?"),
                ("stat", "There is no command 'stat'. Did you mean 'stats'?"),
                ("Get", "There is no command 'Get'. Did you mean 'get'?"),
                ("xyzzy", "There is no command 'xyzzy'.\n"),
            ])
        func command(word: String, message: String) async throws {
            let output = try await tool(word, "--json")
            output.expect(64, error: message)
            #expect(output.errorText.contains("See 'cachestore --help'"))
        }

        @Test(
            "A mistyped command of a command",
            arguments: [
                (["record", "shw"], "There is no command 'shw' of 'cachestore record'. Did you mean 'show'?"),
                (["tier", "chek"], "There is no command 'chek' of 'cachestore tier'. Did you mean 'check'?"),
                (["record", "x", "--json"], "There is no command 'x' of 'cachestore record'.\n"),
            ])
        func secondCommand(command: [String], message: String) async throws {
            let output = try await tool.raw(command)
            output.expect(64, error: message)
            #expect(output.errorText.contains("See 'cachestore \(command[0]) --help'"))
        }

        @Test("CACHESTORE_STORE names the store of commands without --store; an empty value names none")
        func storeOfEnvironment() async throws {
            var environment = ["CACHESTORE_STORE": tool.store, "XDG_CACHE_HOME": tool.directory.path]
            #expect(try await tool.raw(["dir"], environment: environment).text == "\(tool.store)\n")
            #expect(try await tool.raw(["list"], environment: environment).lines.count == 5)
            let other = try await tool.raw(["list", "--store", tool.store + ".not"], environment: environment)
            other.expect(2, error: "there is no store in \(tool.store).not")
            environment["CACHESTORE_STORE"] = ""
            #expect(try await tool.raw(["dir"], environment: environment).text.hasSuffix("/cachestore\n"))
        }

        @Test("CACHESTORE_TIER names the tier of commands without --tier")
        func tierOfEnvironment() async throws {
            let environment = ["CACHESTORE_TIER": "nonsense", "CACHESTORE_TIER_KEY": String(repeating: "0", count: 64)]
            for command in [["tier", "check"], ["get", "http://a.test/", "--store", tool.store]] {
                let output = try await tool.raw(command, environment: environment)
                output.expect(2, error: "nonsense")
            }
            try await tool.raw(["tier", "check"]).expect(64, error: "name the tier with --tier")
            try await tool.raw(["get", "http://a.test/", "--tier-partition", "x"]).expect(64, error: "needs --tier")
        }

        @Test("--json prints JSON also for nothing")
        func nothing() async throws {
            let show = try await tool("show", "http://b.test/", "--json")
            show.expect(1, error: "http://b.test/: not stored")
            #expect(show.text == "[]\n")
            #expect(try await tool("show", "http://b.test/", "--jsonl").text.isEmpty)
            for command in [["record", "show"], ["list", "--host", "b.test"], ["sql", "SELECT 1 WHERE 0"]] {
                let output = try await tool.raw(command + ["--json", "--store", tool.store])
                output.expect(0, error: nil)
                #expect(try output.json([[String: Printed]].self).isEmpty, "\(command)")
            }
        }

        @Test(
            "A mistyped option, and an invalid value",
            arguments: [
                (["list", "--jsno"], "Did you mean '--json'?"),
                (["list", "--sort", "siz"], "one of the following:\n  - used\n  - size\n  - hits\n"),
                (["evict", "--max-bytes", "10X"], "100, 10kB, 1.5MB or 2GB"),
                (["evict", "--unused-for", "3"], "90s, 15m, 12h or 30d"),
                (["get", "http://a/", "--policy", "never"], "'cache-only'"),
                (["get", "http://a/", "--retry", "1000"], "0 to 100"),
                (["list", "--host", "a.test:x"], "'a.test:x' is invalid for '--host"),
                (["put", "http://a/", "/dev/null", "--tag", String(repeating: "x", count: 257)], "at most 256 bytes"),
            ])
        func option(command: [String], message: String) async throws {
            let output = try await tool.raw(command + ["--store", tool.store])
            output.expect(64, error: "Error: ")
            // A line of help breaks between words.
            let lines = output.errorText.replacing("\n    ", with: " ")
            #expect(lines.contains(message), "\(output.errorText)")
        }

        @Test(
            "SQL that cannot be run",
            arguments: [
                ("SELECT ulr FROM cache_entries", "no such column: ulr; did you mean url?"),
                ("SELECT e.byte_sise FROM cache_entries AS e", "no such column: e.byte_sise; did you mean byte_size?"),
                ("SELECT nothing_like_it FROM cache_entries", "no such column: nothing_like_it\n"),
                ("SELECT * FROM cache_entry", "no such table: cache_entry; did you mean cache_entries?"),
                ("SELECT lenght(url) FROM cache_entries", "no such function: lenght; did you mean length?"),
                ("SELCT 1", "near \"SELCT\": syntax error; did you mean SELECT?"),
                ("SELECT 1 FORM cache_stats", "syntax error"),
                ("SELECT 1 WHERE ORDER", "near \"ORDER\": syntax error\n"), ("SELECT 'a", "unrecognized token"),
                ("SELECT key FROM entry", "a query cannot use the table entry; it can read the views cache_derived"),
                ("DELETE FROM cache_entries", "cannot modify cache_entries because it is a view"),
                ("DELETE FROM entry", "anything but a SELECT"),
                ("SELECT 1; SELECT 2", "there is more than one statement"), ("", "there is no statement"),
                ("SELECT ?", "0 arguments were given for 1 parameters"),
            ])
        func sql(statement: String, message: String) async throws {
            let output = try await tool("sql", statement)
            output.expect(2, error: message)
            #expect(output.errorText.hasPrefix("cachestore: the SQL cannot be run: "))
            #expect(!output.errorText.contains("SQLite error"))
        }

        @Test("An expression of --where that cannot be run")
        func expression() async throws {
            try await tool("remove", "--where", "hit_cnt = 0").expect(
                2, error: "the SQL cannot be run: no such column: hit_cnt; did you mean hit_count?")
        }

        @Test(
            "--host is a host of any port, or with a port",
            arguments: [
                ("a.test", 3), ("A.TEST", 3), ("a.test:8080", 1), ("a.test:80", 1), ("a.test:443", 1), ("a.test:81", 0),
                ("b.test", 0),
            ])
        func host(host: String, count: Int) async throws {
            #expect(try await tool("list", "--host", host).lines.count == 2 + count)
            let removed = try await tool("remove", "--host", host, "--where", "byte_size = 1", "--dry-run", "--json")
            #expect(try removed.json([String: Int].self)["entries"] == count)
        }

        @Test("No message contains a type or a case of Swift")
        func names() async throws {
            let names = /(Error[.(:]|[a-z]+[A-Z][a-z]+:|NIO|Optional\(|CacheStore\.)/
            for command in [
                ["get", "http://127.0.0.1:9/"], ["get", "https://127.0.0.1:9/"], ["get", "http://nowhere.invalid/"],
                ["get", "http://a/", "--cacert", "/nowhere"], ["get", "http://a/", "--cacert", "/dev/null"],
                ["get", "http://a/"], ["get", "http://a/", "--policy", "cache-only"],
                ["put", "http://a/", "/nowhere"], ["show", "http://b/"], ["snapshot", "/"],
                ["simulate", "/nowhere", "--max-bytes", "1MB"], ["prefetch", "/nowhere"], ["sql", "x"],
            ] {
                let store = command[0] == "simulate" ? [] : ["--store", tool.store]
                let output = try await tool.raw(command + store)
                #expect(output.exitCode == 1 || output.exitCode == 2)
                #expect(output.errorText.firstMatch(of: names) == nil, "\(output.errorText)")
            }
        }
    }
}
