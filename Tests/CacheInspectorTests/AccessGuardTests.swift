import CacheInspector
import TestSupport

@Suite("Access guard")
struct AccessGuardTests {
    private static let login = AccessGuard.Login(token: "token", cookie: "secret", path: "/p/", port: { 8080 })
    private static let own = AccessGuard(login: login, csrfToken: "csrf")
    private static let forwarded = AccessGuard(
        login: AccessGuard.Login(cookie: "secret", path: "/p/", forwardedPort: 9_000, port: { 8_080 }),
        csrfToken: "csrf")
    private static let mounted = AccessGuard(login: nil, csrfToken: "csrf")

    struct Case: CustomTestStringConvertible {
        let name: String
        var method = HTTPRequest.Method.get
        var host: String? = "127.0.0.1:8080"
        var path = "api/session"
        var target = "/p/"
        var query = ""
        var fields: HTTPFields = [.cookie: "cachestore-inspector=secret"]
        let own: Int
        /// The status of a mounted inspector.
        let mounted: Int
        var testDescription: String { name }
    }

    private static let cookie: HTTPFields = [.cookie: "cachestore-inspector=secret"]
    private static func fields(_ pairs: [(String, String)], cookie: Bool = true) -> HTTPFields {
        var fields = cookie ? Self.cookie : [:]
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }
    private static let json = ("Content-Type", "application/json")
    private static let csrf = ("X-CSRF-Token", "csrf")

    private static let cases = [
        Case(name: "the page's own request", own: 200, mounted: 200),
        Case(name: "localhost", host: "LocalHost:8080", own: 200, mounted: 200),
        Case(name: "another cookie beside it", fields: fields([("Cookie", "a=b; x")]), own: 200, mounted: 200),
        Case(name: "a foreign host", host: "evil.example:8080", own: 403, mounted: 200),
        Case(name: "a host that resolves to loopback", host: "127.0.0.1.evil.example:8080", own: 403, mounted: 200),
        Case(name: "another port", host: "127.0.0.1:80", own: 403, mounted: 200),
        Case(name: "a target with a host of its own", target: "http://evil.example/p/", own: 403, mounted: 200),
        Case(name: "no host", host: nil, own: 403, mounted: 200),
        Case(name: "no cookie", fields: [:], own: 401, mounted: 200),
        Case(name: "a wrong cookie", fields: [.cookie: "cachestore-inspector=secret2"], own: 401, mounted: 200),
        Case(name: "the token as the cookie", fields: [.cookie: "cachestore-inspector=token"], own: 401, mounted: 200),
        Case(name: "the token elsewhere than at the page", query: "token=token", fields: [:], own: 401, mounted: 200),
        Case(name: "a wrong token", path: "", query: "token=tokeN", fields: [:], own: 401, mounted: 200),
        Case(name: "an empty token", path: "", query: "token=", fields: [:], own: 401, mounted: 200),
        Case(name: "its own origin", fields: fields([("Origin", "http://127.0.0.1:8080")]), own: 200, mounted: 200),
        Case(name: "a foreign origin", fields: fields([("Origin", "http://evil.example")]), own: 403, mounted: 403),
        Case(name: "the origin of a sandbox", fields: fields([("Origin", "null")]), own: 403, mounted: 403),
        Case(
            name: "the origin of another port", fields: fields([("Origin", "http://127.0.0.1:1")]), own: 403,
            mounted: 403),
        Case(name: "a cross-site request", fields: fields([("Sec-Fetch-Site", "cross-site")]), own: 403, mounted: 403),
        Case(
            name: "a request of another port", fields: fields([("Sec-Fetch-Site", "same-site")]), own: 403, mounted: 403
        ),
        Case(name: "a typed address", fields: fields([("Sec-Fetch-Site", "none")]), own: 200, mounted: 200),
        Case(name: "a POST", method: .post, fields: fields([json, csrf]), own: 200, mounted: 200),
        Case(
            name: "a POST with a charset", method: .post,
            fields: fields([("Content-Type", "application/json; charset=utf-8"), csrf]), own: 200, mounted: 200),
        Case(name: "a POST without a token", method: .post, fields: fields([json]), own: 403, mounted: 403),
        Case(
            name: "a POST with a wrong token", method: .post, fields: fields([json, ("X-CSRF-Token", "csr")]), own: 403,
            mounted: 403),
        Case(
            name: "a POST of a form", method: .post, fields: fields([("Content-Type", "text/plain"), csrf]), own: 415,
            mounted: 415),
        Case(
            name: "a POST without a cookie", method: .post, fields: fields([json, csrf], cookie: false), own: 401,
            mounted: 200),
    ]

    @Test("accepts only requests from its own page", arguments: cases)
    func verdicts(_ c: Case) throws {
        let head = HTTPRequest(
            method: c.method, scheme: "http", authority: c.host, path: c.target + c.path, headerFields: c.fields)
        let request = try InspectorRequest(c.method, c.path, query: c.query, fields: c.fields)
        #expect(Self.status(of: head, request, Self.own) == c.own)
        #expect(Self.status(of: head, request, Self.mounted) == c.mounted)
    }

    private static func status(of head: HTTPRequest, _ request: InspectorRequest, _ access: AccessGuard) -> Int {
        do throws(InspectorFailure) {
            return try access.check(head, request) == nil ? 200 : 303
        } catch {
            return error.status.code
        }
    }

    @Test(
        "accepts the port that a person forwards, and no other one",
        arguments: [("127.0.0.1:9000", 200), ("localhost:9000", 200), ("127.0.0.1:8080", 200), ("127.0.0.1:9001", 403)])
    func forwardedPort(_ host: String, _ status: Int) throws {
        let fields = Self.fields([("Origin", "http://\(host)")])
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/p/api", headerFields: fields)
        let request = try InspectorRequest(.get, "api", fields: fields)
        #expect(Self.status(of: head, request, Self.forwarded) == status)
        #expect(Self.status(of: head, request, Self.own) == (host.hasSuffix("8080") ? 200 : 403))
    }

    @Test("exchanges the token for a cookie that is HttpOnly and SameSite")
    func exchange() throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:8080", path: "/p/?token=token")
        let request = try InspectorRequest(.get, "", query: "token=token")
        #expect(try Self.own.check(head, request) == "cachestore-inspector=secret; Path=/p/; HttpOnly; SameSite=Strict")
    }

    @Test("secrets have 128 random bits")
    func secrets() {
        let secrets = Set((0..<100).map { _ in Secret.random() })
        #expect(secrets.count == 100)
        #expect(secrets.allSatisfy { $0.count == 32 })
    }
}
