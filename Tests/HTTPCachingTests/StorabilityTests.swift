internal import TestSupport

@Suite struct StorabilityTests {
    private func storability(
        _ lines: String..., status: HTTPResponse.Status = .ok, to request: HTTPRequest = Sample.request(),
        policy: CachePolicy = CachePolicy()
    ) -> Storability {
        StorageDecision(status: status, fields: Sample.fields(lines), request: request, policy: policy).storability
    }

    private static let passed = Storability.notStorable(removesStored: false)
    private static let removed = Storability.notStorable(removesStored: true)

    @Test(
        "RFC 9111 §3: only responses to GET are stored", .requirement("S01"),
        arguments: ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "get", "M-SEARCH"])
    func methods(name: String) throws {
        let method = try #require(HTTPRequest.Method(name))
        let request = Sample.request(method: method)
        #expect(storability("Cache-Control: max-age=60", to: request) == Self.passed)
        #expect(storability("Cache-Control: no-store", to: request) == Self.passed)
        #expect(storability("Cache-Control: max-age=60", to: Sample.request()) == .storable)
    }

    @Test("RFC 9111 §3: only final statuses, and neither a part nor a 304", .requirement("S02", "S03"))
    func statuses() {
        for code in [0, 100, 101, 103, 199, 206, 304, 600, 999] {
            let status = HTTPResponse.Status(code: code)
            #expect(storability("Cache-Control: public, max-age=60", status: status) == Self.passed, "\(code)")
        }
    }

    @Test(
        "RFC 9111 §5.2.2.5: a no-store response is not stored, and removes the stored one",
        .requirement("S04", "S05", "B6"))
    func noStore() {
        #expect(storability("Cache-Control: no-store") == Self.removed)
        #expect(storability("Cache-Control: max-age=60, no-store, public") == Self.removed)
        #expect(storability("Cache-Control: no-store", status: .partialContent) == Self.removed)
    }

    @Test("An error with no-store leaves the last good response alone", .requirement("S05"))
    func noStoreError() {
        #expect(storability("Cache-Control: no-store", status: .serviceUnavailable) == Self.passed)
        #expect(storability("Cache-Control: no-store", status: .internalServerError) == Self.passed)
        #expect(storability("Cache-Control: no-store", status: .notFound) == Self.passed)
        #expect(storability("Cache-Control: no-store", status: .tooManyRequests) == Self.passed)
    }

    @Test("The reply to a range or a precondition answers no other request", .requirement("G12"))
    func requestSpecific() {
        for status in [HTTPResponse.Status.rangeNotSatisfiable, .preconditionFailed] {
            #expect(storability("Cache-Control: max-age=60, public", status: status) == Self.passed)
        }
    }

    @Test(
        "RFC 9111 §5.2.1.5: the response to a request with no-store is not stored; the stored response stays",
        .requirement("S06"))
    func requestNoStore() {
        let request = Sample.request("Cache-Control: no-store")
        #expect(storability("Cache-Control: max-age=60", to: request) == Self.passed)
        #expect(storability("Cache-Control: no-store", to: request) == Self.removed)
    }

    @Test("RFC 9111 §5.2.2.3: must-understand overrides no-store for an understood status", .requirement("S07"))
    func mustUnderstand() {
        #expect(storability("Cache-Control: must-understand, no-store, max-age=60") == .storable)
        #expect(storability("Cache-Control: no-store, must-understand", status: .notFound) == .storable)
        #expect(storability("Cache-Control: must-understand, max-age=60", status: 599) == Self.passed)
        #expect(storability("Cache-Control: must-understand, no-store", status: 599) == Self.passed)
        #expect(storability("Cache-Control: must-understand, no-store", status: 299) == Self.removed)
        #expect(storability("Cache-Control: must-understand, max-age=60", status: 418) == Self.passed)
        #expect(storability("Cache-Control: max-age=60", status: 418) == .storable)
    }

    @Test("RFC 9111 §5.2.2.7: private makes any final status storable in a private cache", .requirement("S08"))
    func privateStatus() {
        #expect(storability("Cache-Control: private", status: .found) == .storable)
        #expect(storability("Cache-Control: private=\"x\"", status: .found) == .storable)
        #expect(storability("Cache-Control: private", status: .found, policy: .shared) == Self.passed)
    }

    @Test(
        "RFC 9111 §5.2.2.7: private with field names limits only shared caches; a private one keeps every field",
        .requirement("F10"))
    func privateFields() {
        let exchange = Sample.exchange(
            #"Cache-Control: private="set-cookie", max-age=60"#, "Set-Cookie: a=b", "X: y")
        guard case .store(let stored) = Sample.decide(on: exchange) else {
            Issue.record("not stored")
            return
        }
        #expect(Sample.decide(Sample.request(), stored, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(stored.head(age: 59).headerFields[.setCookie] == "a=b")
        #expect(Sample.decide(on: exchange, policy: .shared) == .relay(removeStored: false))
    }

    @Test(
        "RFC 9111 §3: explicit freshness information makes any final status storable", .requirement("S09"),
        arguments: [299, 302, 400, 403, 429, 499, 500, 503, 599])
    func explicit(code: Int) {
        let status = HTTPResponse.Status(code: code)
        for line in ["Cache-Control: public", "Cache-Control: max-age=60", "Expires: Sun, 06 Nov 1994 08:49:37 GMT"] {
            #expect(storability(line, status: status) == .storable, "\(line)")
        }
        #expect(storability("Cache-Control: s-maxage=60", status: status, policy: .shared) == .storable)
    }

    @Test("RFC 9111 §3: otherwise, only statuses that are cacheable by default are storable", .requirement("S10"))
    func implicit() {
        let cacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
        for code in 100...999 {
            let expected = cacheable.contains(code) ? .storable : Self.passed
            #expect(storability("ETag: \"a\"", status: HTTPResponse.Status(code: code)) == expected, "\(code)")
        }
    }

    @Test(
        "RFC 9111 §5.2.2.7: private with an invalid argument still restricts; a malformed one permits nothing",
        .requirement("S08", "P15"),
        arguments: [
            ("private=1", true), ("private=\"\"", true), ("PRIVATE=junk", true), ("private=\",\"", true),
            ("private=", false), ("private=\"x", false), ("private; x", false), ("private x", false),
        ])
    func privateWithJunk(control: String, isReadable: Bool) {
        #expect(storability("Cache-Control: max-age=60, \(control)", policy: .shared) == Self.passed)
        #expect(storability("Cache-Control: \(control)", status: .found) == (isReadable ? .storable : Self.passed))
    }

    @Test("RFC 9111 §3.1: fields for proxies do not prevent storing", .requirement("S13"))
    func proxyFields() {
        #expect(storability("Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x") == .storable)
        #expect(storability("Cache-Control: max-age=60", to: Sample.request("Proxy-Authorization: x")) == .storable)
    }

    @Test("RFC 9111 §5.2.2.10: s-maxage makes no response storable in a private cache", .requirement("S20"))
    func sharedMaxAge() {
        #expect(storability("Cache-Control: s-maxage=60", status: .found) == Self.passed)
        #expect(storability("Cache-Control: s-maxage=60", status: .ok) == .storable)
        #expect(storability("Cache-Control: s-maxage=0, proxy-revalidate", status: .ok) == .storable)
    }

    @Test("RFC 9111 §3.5: Authorization does not restrict a private cache", .requirement("S19"))
    func privateAuthorization() {
        let request = Sample.request("Authorization: Basic eA==")
        #expect(storability("Cache-Control: max-age=60", to: request) == .storable)
        #expect(storability("ETag: \"a\"", to: request) == .storable)
        #expect(storability("ETag: \"a\"", to: request, policy: .shared) == Self.passed)
    }

    @Test(
        "RFC 9111 §3.5: a shared cache stores the response to Authorization only if the response permits it",
        .requirement("S19"),
        arguments: [
            ("max-age=60", Self.passed), ("public", .storable), ("must-revalidate, max-age=60", .storable),
            ("s-maxage=60", .storable), ("proxy-revalidate, max-age=60", Self.passed), ("private", Self.passed),
            ("public, private", Self.passed), ("private=\"x\", public", Self.passed),
        ] as [(String, Storability)])
    func authorization(control: String, expected: Storability) {
        let request = Sample.request("Authorization: Basic eA==")
        #expect(storability("Cache-Control: \(control)", to: request, policy: .shared) == expected)
        #expect(storability("Cache-Control: \(control)", to: request) == .storable)
    }

    @Test("RFC 9111 §4.2.1: of conflicting directives the more restrictive wins", .requirement("P07"))
    func conflicts() {
        #expect(storability("Cache-Control: public, no-store") == Self.removed)
        #expect(storability("Cache-Control: public, private", policy: .shared) == Self.passed)
    }

    @Test("no-store after an unclosed quote counts", .requirement("P13"))
    func unterminated() {
        #expect(storability(#"Cache-Control: max-age=60, ext="x, no-store"#) == Self.removed)
    }

    @Test("Stores a response with neither freshness nor validator", .requirement("F07"))
    func nothingToGoBy() {
        #expect(storability("X: y") == .storable)
    }

    @Test("Pragma and Warning of a response have no effect", .requirement("F12", "F13"))
    func pragma() {
        #expect(storability("Pragma: no-cache", "Warning: 110 - \"stale\"") == .storable)
    }

    @Test(".doNotStore and a negative lifetime store nothing, and remove the stored response", .requirement("B4"))
    func doNotStore() {
        let overrides: [CachePolicy.LifetimeOverride] = [.doNotStore, .fixed(.seconds(-1)), .fixed(.milliseconds(-1))]
        for override in overrides {
            let policy = CachePolicy(lifetimeOverride: override)
            #expect(storability("Cache-Control: max-age=60", policy: policy) == Self.removed)
            #expect(storability("X: y", status: .serviceUnavailable, policy: policy) == Self.removed)
        }
        let zero = CachePolicy(lifetimeOverride: .fixed(.zero))
        #expect(storability("Cache-Control: max-age=60", policy: zero) == .storable)
        #expect(storability("Cache-Control: no-store", policy: zero) == Self.removed)
    }

    @Test("Too many fields are not stored")
    func manyFields() {
        var fields = HTTPFields()
        for _ in 0..<1000 { fields.append(Sample.field(.via, "x")) }
        let request = Sample.request()
        let policy = CachePolicy()
        #expect(StorageDecision(status: .ok, fields: fields, request: request, policy: policy).storability == .storable)
        fields.append(Sample.field(.via, "x"))
        #expect(
            StorageDecision(status: .ok, fields: fields, request: request, policy: policy).storability == Self.passed)
        #expect(Storability.maxFieldCount == 1000)
    }
}
