import CacheInspector
import TestSupport

/// A server on loopback, with the URL and the token that a browser receives.
private struct Site: Sendable {
    let client: LoopbackClient
    let path: String
    let token: String
    let cookie: String
    let csrf: String

    var host: String { "127.0.0.1:\(client.port)" }

    /// Runs `body` with a server for the panel.
    static func run(
        _ panel: Panel, timeout: Duration = .seconds(600), _ body: @Sendable @escaping (Site) async throws -> Void
    ) async throws {
        let (addresses, continuation) = AsyncStream<String>.makeStream()
        let server = Task {
            try await InspectorServer(panel.inspector).run(timeout: timeout) { continuation.yield($0) }
        }
        defer { server.cancel() }
        var iterator = addresses.makeAsyncIterator()
        let address = try #require(await iterator.next())
        try await body(try await Site(address))
        server.cancel()
        // Returns although pages are still connected.
        try await server.value
    }

    private init(_ address: String) async throws {
        let components = try #require(URLComponents(string: address))
        #expect(components.host == "127.0.0.1")
        client = LoopbackClient(port: UInt16(try #require(components.port)))
        path = components.path
        token = try #require(components.queryItems?.first?.value)
        let login = try await client.send(
            "GET \(path)?token=\(token) HTTP/1.1\r\nHost: 127.0.0.1:\(client.port)\r\nConnection: close\r\n\r\n")
        #expect(login.hasPrefix("HTTP/1.1 303 "))
        let line = try #require(login.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie:") })
        #expect(line.hasSuffix("; Path=\(path); HttpOnly; SameSite=Strict"))
        cookie = String(line.split(separator: " ")[1].dropLast())
        let session = try await client.send(
            "GET \(path)api/session HTTP/1.1\r\nHost: 127.0.0.1:\(client.port)\r\nCookie: \(cookie)\r\nConnection: close\r\n\r\n"
        )
        csrf = try #require(session.firstMatch(of: /"csrf":"([0-9a-f]+)"/)).output.1.description
    }

    func get(_ target: String, _ fields: String = "", host: String? = nil) async throws -> String {
        try await client.send(
            "GET \(path)\(target) HTTP/1.1\r\nHost: \(host ?? self.host)\r\nCookie: \(cookie)\r\n\(fields)Connection: close\r\n\r\n"
        )
    }

    func post(_ target: String, _ content: String, _ fields: String? = nil) async throws -> String {
        let fields = fields ?? "X-CSRF-Token: \(csrf)\r\nContent-Type: application/json\r\n"
        return try await client.send(
            """
            POST \(path)\(target) HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\n\(fields)\
            Content-Length: \(content.utf8.count)\r\nConnection: close\r\n\r\n\(content)
            """)
    }
}

extension String {
    fileprivate var status: Int { Int(dropFirst(9).prefix(3)) ?? 0 }
}

@Suite("Inspector server")
struct InspectorServerTests {
    let panel: Panel

    init() throws { panel = try Panel() }

    @Test("serves only its own page")
    func access() async throws {
        try await Site.run(panel) { site in
            #expect(try await site.get("").status == 200)
            #expect(try await site.get("api/statistics").status == 200)
            // DNS rebinding: a name of the attacker resolves to loopback.
            #expect(try await site.get("api/session", host: "evil.example:\(site.client.port)").status == 403)
            #expect(try await site.get("api/session", "Origin: http://evil.example\r\n").status == 403)
            #expect(try await site.get("api/session", "Sec-Fetch-Site: cross-site\r\n").status == 403)
            let bare = try await site.client.send(
                "GET \(site.path)api/session HTTP/1.1\r\nHost: \(site.host)\r\nConnection: close\r\n\r\n")
            #expect(bare.status == 401)
            #expect(!bare.contains(site.csrf))
            // The path contains a secret, too.
            #expect(
                try await site.client.send(
                    "GET /api/session HTTP/1.1\r\nHost: \(site.host)\r\nConnection: close\r\n\r\n"
                )
                .status == 404)
            let old = try await site.client.send(
                "GET \(site.path)api/session HTTP/1.0\r\nCookie: \(site.cookie)\r\nConnection: close\r\n\r\n")
            #expect(old.status == 403)
        }
    }

    @Test("a browser without access gets a page that says what to do, and a script gets JSON")
    func pageWithoutAccess() async throws {
        try await Site.run(panel) { site in
            for (target, host) in [
                ("", site.host), ("?token=wrong", site.host), ("", "127.0.0.1:1"),
                ("?%3Cscript%3E&%3Cscript%3E", site.host),
            ] {
                let answer = try await site.client.send(
                    "GET \(site.path)\(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect([400, 401, 403].contains(answer.status))
                #expect(answer.contains("Content-Type: text/html; charset=utf-8\r\n"))
                #expect(answer.contains("Content-Security-Policy: sandbox; default-src 'none'"))
                #expect(answer.contains("ssh -L \(site.client.port):127.0.0.1:\(site.client.port)"))
                #expect(!answer.contains(site.token))
                #expect(!answer.contains("<script>"))
            }
            let data = try await site.client.send(
                "GET \(site.path)api/session HTTP/1.1\r\nHost: \(site.host)\r\nConnection: close\r\n\r\n")
            #expect(data.contains("Content-Type: application/json\r\n"))
        }
    }

    @Test("the server listens on 127.0.0.1 only")
    func address() async throws {
        try await Site.run(panel) { site in
            let client = LoopbackClient(port: site.client.port, host: 0x7F00_0002)
            await #expect(throws: LoopbackClient.Failure.self) {
                try await client.send("GET \(site.path) HTTP/1.1\r\nHost: \(site.host)\r\nConnection: close\r\n\r\n")
            }
        }
    }

    @Test("a change needs the token, the JSON media type and permission")
    func posts() async throws {
        try await Site.run(panel) { site in
            #expect(try await site.post("api/sql", "{\"sql\": \"SELECT 1\"}").status == 200)
            #expect(
                try await site.post("api/sql", "{\"sql\": \"SELECT 1\"}", "Content-Type: application/json\r\n").status
                    == 403)
            #expect(
                try await site.post(
                    "api/sql", "{\"sql\": \"SELECT 1\"}", "X-CSRF-Token: \(site.csrf)\r\nContent-Type: text/plain\r\n"
                )
                .status == 415)
            #expect(try await site.post("api/sql", String(repeating: " ", count: 1 << 20 + 1)).status == 413)
            let change = try await site.post(
                "api/changes/preview", "{\"action\": \"remove\", \"selection\": {\"everything\": true}}")
            #expect(change.status == 403)
            #expect(change.contains("changes_not_allowed"))
            #expect(try await site.get("api/changes/apply").status == 404)
        }
    }

    @Test("every response forbids sniffing, framing, caching and referrers")
    func fields() async throws {
        let entry = try panel.insert("https://example.com/", "<script>alert(1)</script>", type: "text/html")
        try await Site.run(panel) { site in
            for target in ["", "api/session", "api/body?id=\(entry.id)", "nothing"] {
                let answer = try await site.get(target).lowercased()
                #expect(answer.contains("\r\nx-content-type-options: nosniff\r\n"))
                #expect(answer.contains("\r\nreferrer-policy: no-referrer\r\n"))
                #expect(answer.contains("\r\ncross-origin-resource-policy: same-origin\r\n"))
                #expect(answer.contains("\r\ncontent-security-policy: "))
                #expect(!answer.contains("access-control-"))
            }
            let body = try await site.get("api/body?id=\(entry.id)")
            #expect(body.contains("Content-Type: text/plain; charset=utf-8\r\n"))
            #expect(body.contains("Content-Security-Policy: sandbox; default-src 'none'"))
            #expect(body.hasSuffix("<script>alert(1)</script>"))
        }
    }

    @Test("a connection serves several requests; 304 and the answer to HEAD have no content")
    func connections() async throws {
        try await Site.run(panel) { site in
            let fields = "Host: \(site.host)\r\nCookie: \(site.cookie)\r\n"
            let file = try await site.get("app.js")
            let tag = try #require(file.firstMatch(of: /ETag: (\S+)/)).output.1
            let answers = try await site.client.send(
                """
                GET \(site.path)app.js HTTP/1.1\r\n\(fields)If-None-Match: \(tag)\r\n\r\n\
                HEAD \(site.path)app.js HTTP/1.1\r\n\(fields)\r\n\
                GET \(site.path)theme.js HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n
                """)
            let statuses = answers.matches(of: /HTTP\/1\.1 (\d+)/).map { Int($0.output.1) }
            // The page sends no HEAD, so the guard treats HEAD as a change without a token.
            #expect(statuses == [304, 403, 200])
            #expect(answers.matches(of: /\r\n\r\n(HTTP|\/\/|[a-z])/).count == 3)
            #expect(answers.matches(of: /\r\nDate: \w+, [^\r]+ GMT\r\n/).count == 3)
            #expect(answers.firstMatch(of: /304 Not Modified\r\n(?:[^\r]+\r\n)*Content-Length/) == nil)
        }
    }

    @Test(
        "malformed requests get 400, and a page below another path gets 404",
        arguments: [
            ("no such thing\r\n\r\n", 400), ("GET / HTTP/9\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
            ("GET http://evil.example/ HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
        ])
    func malformed(_ request: String, _ status: Int) async throws {
        try await Site.run(panel) { site in
            let answer = try await site.client.send(request)
            #expect(answer.status == status)
            #expect(answer.contains("Connection: close\r\n"))
        }
    }

    @Test("disconnects a client that stalls in its request or after it")
    func slowClients() async throws {
        try await Site.run(panel, timeout: .milliseconds(200)) { site in
            #expect(try await site.client.send("GET \(site.path) HTTP/1.1\r\nHost: ") == "")
            let fields = "Host: \(site.host)\r\nCookie: \(site.cookie)\r\n"
            let idle = try await site.client.send("GET \(site.path)theme.js HTTP/1.1\r\n\(fields)\r\n")
            #expect(idle.status == 200)
        }
    }

    @Test("refuses a field of 10 MB, a path of 10 MB and paths with `..`, and keeps serving")
    func attacks() async throws {
        try await Site.run(panel) { site in
            let huge = String(repeating: "x", count: 10_000_000)
            #expect([400, 431].contains(try await site.get("api/session", "X-Huge: \(huge)\r\n").status))
            #expect([400, 414, 431].contains(try await site.get("api/entries?host=\(huge)").status))
            for target in [
                "../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "api/../../index.sqlite", "%2e%2e/index.sqlite",
                "api/body?id=..%2F1",
            ] {
                let answer = try await site.get(target)
                #expect([400, 404].contains(answer.status))
                #expect(!answer.contains("SQLite format"))
                #expect(!answer.contains("root:"))
            }
            #expect(try await site.get("api/session").status == 200)
        }
    }

    @Test("sends live requests as events, resumes after the last received event, and counts lost requests")
    func live() async throws {
        try panel.store.startRecordingRequests()
        @Sendable func record(_ name: String) throws {
            let beginning = try #require(panel.store.requests.beginning)
            panel.store.requests.add(
                RequestRecord(
                    startedAt: Date(), method: "GET", target: try CacheKey(url: "https://example.com/\(name)"),
                    outcome: .hit), since: beginning)
            panel.store.requests.flush()
        }
        try record("first")
        try await Site.run(panel) { site in
            let head = "GET \(site.path)api/live HTTP/1.1\r\nHost: \(site.host)\r\nCookie: \(site.cookie)\r\n"
            let first = try await site.client.send(head + "\r\n", until: "https://example.com/first")
            #expect(first.contains("Content-Type: text/event-stream\r\n"))
            #expect(first.contains("event: state\ndata: {\"recording\":true,\"exists\":true,\"capacity\":32768"))
            #expect(!first.contains("Content-Length"))
            let id = try #require(first.firstMatch(of: /\nid: ([0-9a-f]+-\d+)\n/)).output.1
            // This stream connects before the request happens.
            async let second = site.client.send(
                head + "Last-Event-ID: \(id)\r\n\r\n", until: "https://example.com/second")
            try record("second")
            #expect(try await second.contains("/first") == false)
            let position = try await site.get("api/live?after=x")
            #expect(position.status == 400)
        }
    }
}
