import TestSupport

extension ToolTests {
    @Suite("get, many", .serialized)
    struct GetMany {
        let tool: Tool
        let origin: LoopbackOrigin
        let underWay = RequestsUnderWay()
        /// Holds the first request until the last has arrived.
        let gate = Gate()

        init() async throws {
            tool = try Tool()
            let (gate, underWay) = (gate, underWay)
            let asked = Mutex(0)
            origin = try await LoopbackOrigin { request in
                underWay.begin()
                defer { underWay.end() }
                switch request.path {
                case "/0": await gate.wait()
                case "/5": gate.open()
                case "/late":
                    let times = asked.withLock { asked in
                        asked += 1
                        return asked
                    }
                    if times == 1 { return .status(.serviceUnavailable) }
                case let path where path.hasPrefix("/missing"): return .status(.notFound)
                default: break
                }
                return .ok(request.path.utf8, cacheControl: "max-age=60")
            }
        }

        @Test("Loads concurrently, and writes bodies and lines in order", .requirement("H1"))
        func order() async throws {
            let urls = (0..<6).map { origin.url("/\($0)") }
            let output = try await tool.raw(["get", "-v", "--store", tool.store] + urls)
            #expect(output.exitCode == 0)
            #expect(output.text == "/0/1/2/3/4/5")
            let lines = output.errorText.split(separator: "\n")
            #expect(lines.count == 6)
            #expect(zip(lines, urls).allSatisfy { $0.hasSuffix(" url=\($1)") })
            #expect(lines.allSatisfy { $0.hasPrefix("source=network ") })
        }

        @Test(
            "In the background one load at a time; --width is a limit, too", .requirement("H1"),
            arguments: ["--lane=background", "--width=1"])
        func oneByOne(option: String) async throws {
            let urls = (1...5).map { origin.url("/\($0)") }
            let output = try await tool.raw(["get", option, "--store", tool.store] + urls)
            #expect(output.text == "/1/2/3/4/5")
            #expect(origin.requestCount == 5)
            #expect(underWay.most == 1)
        }

        @Test("Some of many URLs fail: bodies and failures come in order, and the worst sets the exit code")
        func failures() async throws {
            let urls = (100..<160).map { origin.url($0 % 10 == 7 ? "/missing?\($0)" : "/\($0)") }
            let output = try await tool.raw(["get", "--store", tool.store] + urls)
            #expect(output.exitCode == 1)
            #expect(output.text == (100..<160).filter { $0 % 10 != 7 }.map { "/\($0)" }.joined())
            let failed = output.errorText.split(separator: "\n")
            #expect(failed.count == 6)
            for (line, number) in zip(failed, stride(from: 107, through: 157, by: 10)) {
                #expect(line == "cachestore: \(origin.url("/missing?\(number)")): the origin answered with status 404")
            }
            let worse = try await tool("get", "http://127.0.0.1:9/", urls[7], urls[0])
            #expect(worse.exitCode == 2)
            #expect(worse.text == "/100")
            try await tool("get", urls[0], urls[1], "-o", "out").expect(64, error: "-o takes the body of one URL")
        }

        @Test("--retry is 0 by default", .requirement("H7"), arguments: [([], 1, 1), (["--retry", "1"], 0, 2)])
        func retrying(arguments: [String], exitCode: Int, requests: Int) async throws {
            let output = try await tool.raw(["get", origin.url("/late"), "--store", tool.store] + arguments)
            output.expect(Int32(exitCode), error: exitCode == 0 ? nil : "status 503")
            #expect(output.text == (exitCode == 0 ? "/late" : ""))
            #expect(origin.requestCount == requests)
        }
    }
}
