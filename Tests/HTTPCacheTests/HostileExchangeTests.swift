import TestSupport

/// A reply of the origin.
private struct Reply: Sendable {
    let status: Int
    let fields: HTTPFields
    let body: String

    init(_ status: Int, _ fields: HTTPFields = [:], _ body: String = "") {
        (self.status, self.fields, self.body) = (status, fields, body)
    }
}

/// A request, the origin's replies to it, and the expected response.
private struct Step: Sendable {
    let path: String
    let method: HTTPRequest.Method
    let fields: HTTPFields
    let content: String?
    /// The seconds since the previous step.
    let pause: Double
    /// No replies: the store must answer.
    let replies: [Reply]
    /// The expected body, or `nil` for an error.
    let expected: String?
    let status: Int?

    init(
        _ path: String = "/a", method: HTTPRequest.Method = .get, fields: HTTPFields = [:], content: String? = nil,
        after pause: Double = 0, replies: Reply..., expect expected: String?, status: Int? = nil
    ) {
        (self.path, self.method, self.fields, self.content) = (path, method, fields, content)
        (self.pause, self.replies, self.expected, self.status) = (pause, replies, expected, status)
    }
}

private struct Exchange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let policy: CachePolicy
    let steps: [Step]

    init(_ name: String, policy: CachePolicy = CachePolicy(), _ steps: Step...) {
        (testDescription, self.policy, self.steps) = (name, policy, steps)
    }
}

private let fresh: HTTPFields = [.cacheControl: "max-age=60"]
private let tagged: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]
private let tolerant: HTTPFields = [.cacheControl: "max-age=60, stale-if-error=600"]
private let old = "Thu, 01 Jan 1970 00:00:01 GMT"

private func + (fields: HTTPFields, others: HTTPFields) -> HTTPFields {
    var all = fields
    for field in others { all.append(field) }
    return all
}

private func field(_ name: String, _ value: String) -> HTTPFields { HTTPField.Name(name).map { [$0: value] } ?? [:] }

/// Rules for requests.
private let requests = [
    Exchange(
        "RFC 9110 §7.2: a Host of another authority is refused", Step(fields: field("Host", "b.test"), expect: nil)),
    Exchange("§7.2: a Host with another port is refused", Step(fields: field("Host", "example.com:8443"), expect: nil)),
    Exchange(
        "§7.2: two Host lines are refused",
        Step(fields: field("Host", "example.com") + field("Host", "b.test"), expect: nil)),
    Exchange(
        "§4.2.3: a Host in other letters with the default port is the same",
        Step(replies: Reply(200, fresh, "one"), expect: "one"),
        Step(fields: field("Host", "EXAMPLE.com:443"), expect: "one")),
    Exchange(
        "§9.3.1: content of a GET is not a part of the key",
        Step(replies: Reply(200, fresh, "plain"), expect: "plain"),
        Step(content: "q", replies: Reply(200, fresh, "asked"), expect: "asked"), Step(expect: "plain")),
    Exchange(
        "§9.3.1: the answer to a GET with content is not stored",
        Step(content: "q", replies: Reply(200, fresh, "asked"), expect: "asked"),
        Step(replies: Reply(200, fresh, "plain"), expect: "plain")),
    Exchange(
        "RFC 9111 §4: another method is another request",
        Step(replies: Reply(200, fresh, "one"), expect: "one"),
        Step(method: .options, replies: Reply(200, fresh, "options"), expect: "options"), Step(expect: "one")),
    Exchange(
        "§4.4: an unsafe success invalidates, an error does not",
        Step(replies: Reply(200, fresh, "one"), expect: "one"),
        Step(method: .post, content: "x", replies: Reply(500, [:], "no"), expect: "no", status: 500),
        Step(expect: "one"),
        Step(method: .post, content: "x", replies: Reply(200, [:], "done"), expect: "done"),
        Step(replies: Reply(200, fresh, "two"), expect: "two")),
    Exchange(
        "§4.4: a Location of another origin is not invalidated",
        Step(replies: Reply(200, fresh, "one"), expect: "one"),
        Step(
            "/b", method: .post, content: "x", replies: Reply(201, [.location: "https://b.test/a"], "made"),
            expect: "made"),
        Step(expect: "one")),
    Exchange(
        "§5.2.1.4: no-cache of the request asks the origin",
        Step(replies: Reply(200, tagged, "one"), expect: "one"),
        Step(fields: [.cacheControl: "no-cache"], replies: Reply(304, tagged), expect: "one")),
    Exchange(
        "§5.2.1.7: only-if-cached gets 504 in place of a request",
        Step(fields: [.cacheControl: "only-if-cached"], expect: "", status: 504)),
    Exchange(
        "§5.2.1.5: no-store of the request keeps its answer out",
        Step(fields: [.cacheControl: "no-store"], replies: Reply(200, fresh, "secret"), expect: "secret"),
        Step(replies: Reply(200, fresh, "plain"), expect: "plain")),
]

/// Rules for replies and their conditions.
private let replies = [
    Exchange(
        "§4.1, §4.3.4: a 304 without Vary does not let one variant answer for all",
        Step(
            fields: [.acceptLanguage: "de"], replies: Reply(200, tagged + [.vary: "Accept-Language"], "de"),
            expect: "de"),
        Step(fields: [.acceptLanguage: "de"], after: 61, replies: Reply(304, tagged), expect: "de"),
        Step(
            fields: [.acceptLanguage: "en"], replies: Reply(200, tagged + [.vary: "Accept-Language"], "en"),
            expect: "en")),
    Exchange(
        "§4.1: Vary: * matches nothing",
        Step(replies: Reply(200, fresh + [.vary: "*"], "one"), expect: "one"),
        Step(replies: Reply(200, fresh + [.vary: "*"], "two"), expect: "two")),
    Exchange(
        "§4.3.4: a 304 with another strong tag does not freshen",
        Step(replies: Reply(200, tagged, "one"), expect: "one"),
        Step(after: 61, replies: Reply(304, [.eTag: "\"2\""]), Reply(200, tagged, "two"), expect: "two")),
    Exchange(
        "RFC 9110 §14.4: Content-Range of a 304 does not reach the stored 200",
        Step(replies: Reply(200, tagged, "one"), expect: "one"),
        Step(after: 61, replies: Reply(304, tagged + [.contentRange: "bytes 0-0/3"]), expect: "one"),
        Step(expect: "one", status: 200)),
    Exchange(
        "§15.3.7: a 206 with all bytes to a plain GET is the whole",
        Step(
            replies: Reply(206, tagged + [.contentRange: "bytes 0-2/3", .contentLength: "3"], "one"), expect: "one",
            status: 200),
        Step(expect: "one", status: 200)),
    Exchange(
        "§15.3.7: a 206 with a part to a plain GET is no answer",
        Step(
            replies: Reply(206, tagged + [.contentRange: "bytes 0-1/3", .contentLength: "2"], "on"), expect: "",
            status: 502),
        Step(replies: Reply(200, tagged, "one"), expect: "one")),
    Exchange(
        "§14.4: a 200 with Content-Range to a request for a part is not stored as the whole",
        Step(
            fields: [.range: "bytes=1-2"], replies: Reply(200, tagged + [.contentRange: "bytes 1-2/3"], "ne"),
            expect: "ne"),
        Step(replies: Reply(200, tagged, "one"), expect: "one")),
    Exchange(
        "§15.4.5: a 304 to a request without a condition is no answer: it is asked once more",
        Step(replies: Reply(304, tagged), Reply(200, tagged, "one"), expect: "one"), Step(expect: "one")),
    Exchange(
        "§7.6.1: Connection cannot take the coding off",
        Step(
            replies: Reply(200, fresh + [.connection: "content-encoding", .contentEncoding: "x"], "coded"),
            expect: "coded"),
        Step(fields: [.acceptEncoding: "x"], expect: "coded")),
    Exchange(
        "§7.6.1: fields that Connection names are not stored",
        Step(replies: Reply(200, fresh + [.connection: "x-hop"] + field("X-Hop", "1"), "one"), expect: "one"),
        Step(expect: "one")),
    Exchange(
        "RFC 9111 §4.2.2: a date of an archive gives no heuristic lifetime",
        Step(replies: Reply(200, [.lastModified: old], "one"), expect: "one"),
        Step(replies: Reply(304, [.lastModified: old]), expect: "one")),
    Exchange(
        "§4.2.1: an explicit lifetime counts beside such a date",
        Step(replies: Reply(200, fresh + [.lastModified: old], "one"), expect: "one"), Step(expect: "one")),
    Exchange(
        "§5.3: Expires 0 is in the past",
        Step(replies: Reply(200, [.expires: "0", .eTag: "\"1\""], "one"), expect: "one"),
        Step(replies: Reply(304, [.expires: "0", .eTag: "\"1\""]), expect: "one")),
    Exchange(
        "§4.2.1: of two different max-age the last does not count",
        Step(replies: Reply(200, [.cacheControl: "max-age=1, max-age=60", .eTag: "\"1\""], "one"), expect: "one"),
        Step(after: 2, replies: Reply(304, tagged), expect: "one")),
    Exchange(
        "§1.2.2: a max-age beyond 64 bits is a long time",
        Step(replies: Reply(200, [.cacheControl: "max-age=99999999999999999999"], "one"), expect: "one"),
        Step(after: 1_000_000, expect: "one")),
    Exchange(
        "§4.2.1: a negative max-age is stale",
        Step(replies: Reply(200, [.cacheControl: "max-age=-1", .eTag: "\"1\""], "one"), expect: "one"),
        Step(replies: Reply(304, [.cacheControl: "max-age=-1", .eTag: "\"1\""]), expect: "one")),
    Exchange(
        "§5.1: an Age beyond the lifetime makes a response stale on arrival",
        Step(replies: Reply(200, tagged + [.age: "61"], "one"), expect: "one"),
        Step(replies: Reply(304, tagged), expect: "one")),
    Exchange(
        "§5.2.2.3: must-understand with an unknown status is not stored",
        Step(replies: Reply(299, [.cacheControl: "max-age=60, must-understand"], "odd"), expect: "odd", status: 299),
        Step(replies: Reply(200, fresh, "one"), expect: "one")),
    Exchange(
        "§5.2.2.5: no-store keeps the response out, and what was stored before is not served",
        Step(replies: Reply(200, fresh, "one"), expect: "one"),
        Step(after: 61, replies: Reply(200, [.cacheControl: "no-store"], "two"), expect: "two"),
        Step(replies: Reply(200, fresh, "three"), expect: "three")),
    Exchange(
        "§5.2.2.7: a shared cache stores nothing that is private", policy: .shared,
        Step(replies: Reply(200, [.cacheControl: "private, max-age=60"], "mine"), expect: "mine"),
        Step(replies: Reply(200, fresh, "ours"), expect: "ours")),
    Exchange(
        "§3.5: a shared cache stores no answer to Authorization", policy: .shared,
        Step(fields: [.authorization: "Basic YTpi"], replies: Reply(200, fresh, "mine"), expect: "mine"),
        Step(replies: Reply(200, fresh, "ours"), expect: "ours")),
]

/// Rules for failures of the origin, and from the newest RFCs and drafts.
private let failures = [
    Exchange(
        "RFC 5861 §4: a stale response with stale-if-error answers in place of a 503",
        Step(replies: Reply(200, tolerant, "one"), expect: "one"),
        Step(after: 61, replies: Reply(503, [.setCookie: "a=b"], "no"), expect: "one", status: 200)),
    Exchange(
        "§4: not after its time",
        Step(replies: Reply(200, [.cacheControl: "max-age=60, stale-if-error=1"], "one"), expect: "one"),
        Step(after: 62, replies: Reply(503, [:], "no"), expect: "no", status: 503)),
    Exchange(
        "RFC 9111 §5.2.2.2: not with must-revalidate",
        Step(
            replies: Reply(200, [.cacheControl: "max-age=60, must-revalidate, stale-if-error=600"], "one"),
            expect: "one"),
        Step(after: 61, replies: Reply(503, [:], "no"), expect: "no", status: 503)),
    Exchange(
        "RFC 5861 §4: not where the policy says never", policy: CachePolicy(staleIfError: .zero),
        Step(replies: Reply(200, tolerant, "one"), expect: "one"),
        Step(after: 61, replies: Reply(503, [:], "no"), expect: "no", status: 503)),
    Exchange(
        "RFC 9110 §10.2.3: Retry-After holds back the next request that a stale response may answer",
        Step(replies: Reply(200, tolerant, "one"), expect: "one"),
        Step(after: 61, replies: Reply(503, [.retryAfter: "60"], "no"), expect: "one"), Step(after: 59, expect: "one"),
        Step(after: 2, replies: Reply(200, fresh, "two"), expect: "two")),
    Exchange(
        "RFC 9211, §10.2.3: the pause of one user is not that of another",
        Step(fields: [.authorization: "a"], replies: Reply(200, tolerant, "a"), expect: "a"),
        Step(fields: [.authorization: "b"], replies: Reply(200, tolerant, "b"), expect: "b"),
        Step(fields: [.authorization: "a"], after: 61, replies: Reply(503, [.retryAfter: "60"], "no"), expect: "a"),
        Step(fields: [.authorization: "b"], replies: Reply(200, fresh, "b2"), expect: "b2")),
    Exchange(
        "No-Vary-Search: params without a list is invalid, and each query counts",
        Step("/a?x=1", replies: Reply(200, fresh + field("No-Vary-Search", "params=?1, key-order"), "1"), expect: "1"),
        Step("/a?x=2", replies: Reply(200, fresh, "2"), expect: "2")),
    Exchange(
        "No-Vary-Search: a list of names",
        Step("/a?x=1&y=1", replies: Reply(200, fresh + field("No-Vary-Search", "params=(\"x\")"), "1"), expect: "1"),
        Step("/a?x=2&y=1", expect: "1"), Step("/a?x=2&y=2", replies: Reply(200, fresh, "2"), expect: "2")),
    Exchange(
        "Unencoded-Digest: content without it fails, and is not stored", policy: CachePolicy(verifiesDigests: true),
        Step(replies: Reply(200, fresh + field("Unencoded-Digest", "sha-256=:YWJj:"), "one"), expect: nil),
        Step(replies: Reply(200, fresh, "one"), expect: "one")),
]

@Suite("HTTPCache: hostile exchanges", .timeLimit(.minutes(5))) struct HostileExchangeTests {
    @Test("An exchange from the standards", arguments: requests + replies + failures)
    private func exchange(_ exchange: Exchange) async throws {
        let script = Mutex<[Reply]>([])
        let surplus = Counter()
        let (_, fixture) = try LoaderFixture.scripted(policy: exchange.policy) { _, _ in
            guard let reply = script.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                surplus.next()
                return .reply(500, [:], "not expected")
            }
            return .reply(HTTPResponse.Status(code: reply.status), reply.fields, reply.body)
        }
        for (number, step) in exchange.steps.enumerated() {
            fixture.clock.advance(by: step.pause)
            script.withLock { $0 = step.replies }
            let content = step.content.map { RequestContent(Data($0.utf8)) }
            do throws(LoadError) {
                let response = try await fixture.cache.response(
                    for: .to(step.path, method: step.method, step.fields), content: content)
                let text = String(decoding: try await response.data(), as: UTF8.self)
                #expect(text == step.expected, "step \(number): \(response.status)")
                if let status = step.status { #expect(response.status.code == status, "step \(number)") }
                if step.replies.isEmpty { #expect(response.headerFields[.setCookie] == nil) }
            } catch {
                #expect(step.expected == nil, "step \(number): \(error)")
            }
            #expect(script.withLock { $0.count } == 0, "step \(number): a reply was not asked for")
            #expect(surplus.count == 0, "step \(number): a request too many")
        }
    }
}
