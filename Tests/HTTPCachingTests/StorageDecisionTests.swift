internal import TestSupport

@Suite struct StorageDecisionTests {
    private func decide(
        _ lines: String..., status: HTTPResponse.Status = .ok, to request: HTTPRequest = Sample.request(),
        policy: CachePolicy = CachePolicy()
    ) -> StorageDecision {
        StorageDecision(status: status, fields: Sample.fields(lines), request: request, policy: policy)
    }

    private func rule(
        _ control: String, status: HTTPResponse.Status = .ok, to request: HTTPRequest = Sample.request(),
        policy: CachePolicy = CachePolicy()
    ) -> Rule {
        decide("Cache-Control: \(control)", status: status, to: request, policy: policy).rule
    }

    // MARK: Rules

    @Test("Each refusal names its rule", .requirement("S01", "S02", "S03", "S04", "S06", "S07", "S10"))
    func refusals() {
        #expect(rule("max-age=60", to: Sample.request(method: .head)) == .methodNotUnderstood)
        #expect(rule("max-age=60", to: Sample.request(method: .put)) == .methodNotUnderstood)
        #expect(rule("max-age=60", to: Sample.request(method: .post)) == .postNotCacheable)
        #expect(rule("max-age=60", policy: CachePolicy(lifetimeOverride: .doNotStore)) == .localConfiguration)
        #expect(rule("no-store") == .noStore)
        #expect(rule("no-store, max-age=60", to: Sample.request("Cache-Control: no-store")) == .noStore)
        #expect(rule("max-age=60", to: Sample.request("Cache-Control: no-store")) == .requestNoStore)
        #expect(rule("must-understand, max-age=60", status: 599) == .mustUnderstand)
        #expect(rule("max-age=60", status: .earlyHints) == .statusNotFinal)
        #expect(rule("max-age=60", status: 600) == .statusNotFinal)
        #expect(rule("max-age=60", status: .partialContent) == .statusNotUnderstood)
        #expect(rule("max-age=60", status: .notModified) == .statusNotUnderstood)
        #expect(rule("max-age=60", status: .preconditionFailed) == .preconditionFailed)
        #expect(rule("max-age=60", status: .rangeNotSatisfiable) == .rangeNotSatisfiable)
        #expect(rule("must-revalidate", status: .found) == .nothingAllowsStoring)
        var fields = Sample.fields(["Cache-Control: max-age=60"])
        for _ in 0..<Storability.maxFieldCount { fields.append(Sample.field(.via, "x")) }
        let many = StorageDecision(
            status: .ok, fields: fields, request: Sample.request(), policy: CachePolicy())
        #expect(many.rule == .tooManyFields)
        #expect(many.storability == .notStorable(removesStored: false))
    }

    @Test("A refusal only by shared caches names its rule", .requirement("S08", "S19", "P07"))
    func sharedRefusals() {
        let request = Sample.request("Authorization: Basic eA==")
        #expect(rule("private, max-age=60", policy: .shared) == .privateInSharedCache)
        #expect(rule("private, public", to: request, policy: .shared) == .privateInSharedCache)
        #expect(rule("max-age=60", to: request, policy: .shared) == .authorizationInSharedCache)
        #expect(rule("max-age=60", to: request) == .maxAgeDirective)
        #expect(rule("private", status: .found, policy: .shared) == .privateInSharedCache)
        #expect(rule("s-maxage=60", status: .found) == .nothingAllowsStoring)
    }

    @Test("A stored response names the most explicit permission", .requirement("S08", "S09", "S10", "S20"))
    func permissions() {
        #expect(rule("s-maxage=60, max-age=60, public", policy: .shared) == .sharedMaxAgeDirective)
        #expect(rule("s-maxage=60, max-age=60, public") == .maxAgeDirective)
        #expect(rule("s-maxage=60") == .heuristicallyCacheable)
        #expect(decide("Expires: 0", "Cache-Control: public").rule == .expiresField)
        #expect(decide("Expires: 0", "Cache-Control: max-age=x").rule == .expiresField)
        #expect(rule("public, private", status: .found) == .publicDirective)
        #expect(rule("private", status: .found) == .privateDirective)
        #expect(rule("private=\"x\"") == .privateDirective)
        #expect(rule("must-revalidate") == .heuristicallyCacheable)
        #expect(rule("must-understand, no-store") == .heuristicallyCacheable)
        #expect(decide().rule == .heuristicallyCacheable)
    }

    @Test(
        "A malformed directive permits nothing", .requirement("S08", "S09", "S10"),
        arguments: [
            "max-age=x", "max-age=", "max-age=60; x", "x; max-age=60", "ext==max-age=60", #"ext==max-age=60, x", y"#,
            "private; x", "x; private", "ext==private", "public; x", "x; public", #"ext="public, max-age=60, private"#,
        ])
    func unreadable(control: String) {
        #expect(rule(control, status: .found) == .nothingAllowsStoring)
        #expect(rule(control) == .heuristicallyCacheable)
    }

    @Test(
        "A directive that is malformed for a shared cache permits nothing", .requirement("S09", "S10"),
        arguments: ["s-maxage=x", "x; s-maxage=60"])
    func unreadableForShared(control: String) {
        #expect(rule(control, status: .found, policy: .shared) == .nothingAllowsStoring)
        #expect(rule(control, policy: .shared) == .heuristicallyCacheable)
    }

    @Test("206 and 304 are refused despite any permission; no-store is the first rule", .requirement("S03"))
    func order() {
        #expect(rule("no-store", status: .partialContent) == .noStore)
        #expect(rule("public", status: .partialContent) == .statusNotUnderstood)
        #expect(rule("no-store", to: Sample.request(method: .put)) == .methodNotUnderstood)
        #expect(rule("no-store", policy: CachePolicy(lifetimeOverride: .doNotStore)) == .localConfiguration)
    }

    @Test("A rule has its section and its text")
    func description() {
        #expect(Rule.maxAgeDirective.description == "RFC 9111 §3: a max-age response directive")
        let rules: [Rule] = [
            .localConfiguration, .methodNotUnderstood, .statusNotFinal, .statusNotUnderstood, .mustUnderstand, .noStore,
            .requestNoStore, .privateInSharedCache, .authorizationInSharedCache, .preconditionFailed,
            .rangeNotSatisfiable, .nothingAllowsStoring, .tooManyFields, .postNotCacheable, .publicDirective,
            .privateDirective, .expiresField, .maxAgeDirective, .sharedMaxAgeDirective, .heuristicallyCacheable,
            .postCacheable,
        ]
        #expect(Set(rules).count == rules.count)
        #expect(rules.allSatisfy { $0.section.hasPrefix("RFC 911") && !$0.phrase.contains("\n") })
    }

    // MARK: POST

    private func post(
        _ lines: String..., status: HTTPResponse.Status = .ok, policy: CachePolicy = CachePolicy(),
        path: String? = "/a?q", field: String? = nil
    ) -> Bool {
        var request = Sample.request(method: .post)
        request.path = path
        if let field { request.headerFields += Sample.fields([field]) }
        let decision = StorageDecision(
            status: status, fields: Sample.fields(lines), request: request, policy: policy)
        return decision.storability == .storable && decision.rule == .postCacheable
    }

    @Test(
        "RFC 9110 §9.3.3: a POST is storable if Content-Location is its target", .requirement("S15"),
        arguments: [
            ("/a?q", true), ("a?q", true), ("?q", true), ("https://example.com/a?q", true),
            ("HTTPS://EXAMPLE.com:443/a?q", true), ("//example.com/a?q", true), ("./a?q#f", true), ("/b/../a?q", true),
            ("", true), (" /a?q ", true),
            ("/a", false), ("/a?", false), ("/a?Q", false), ("/b?q", false), ("/a/?q", false), ("a", false),
            ("http://example.com/a?q", false), ("https://example.org/a?q", false),
            ("https://example.com:444/a?q", false),
            ("/a?q q", false), ("urn:a", false),
        ])
    func postTarget(location: String, expected: Bool) {
        #expect(post("Cache-Control: max-age=60", "Content-Location: \(location)") == expected)
    }

    @Test(
        "RFC 9110 §9.3.3: a POST needs explicit freshness", .requirement("S15"),
        arguments: [
            (["Cache-Control: max-age=60"], true, true), (["Cache-Control: max-age=0"], true, true),
            (["Expires: Sun, 06 Nov 1994 08:49:37 GMT"], true, true),
            (["Cache-Control: s-maxage=60"], false, true),
            (["Cache-Control: max-age=60", "Expires: 0"], true, true),
            ([], false, false), (["Cache-Control: public"], false, false), (["Cache-Control: private"], false, false),
            (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], false, false),
            (["Cache-Control: max-age=x"], false, false), (["Cache-Control: max-age=x", "Expires: 0"], false, false),
            (["Cache-Control: max-age=60, no-store"], false, false),
        ])
    func postFreshness(lines: [String], isPrivate: Bool, isShared: Bool) {
        func decide(_ policy: CachePolicy) -> Storability {
            var request = Sample.request(method: .post)
            request.path = "/a"
            let decision = StorageDecision(
                status: .ok, fields: Sample.fields(lines + ["Content-Location: /a"]), request: request, policy: policy)
            return decision.storability
        }
        #expect((decide(CachePolicy()) == .storable) == isPrivate)
        #expect((decide(.shared) == .storable) == isShared)
    }

    @Test("A missing or repeated Content-Location makes a POST unstorable", .requirement("S15"))
    func postWithoutTarget() {
        #expect(!post("Cache-Control: max-age=60"))
        #expect(!post("Cache-Control: max-age=60", "Location: /a?q"))
        #expect(!post("Cache-Control: max-age=60", "Content-Location: /a?q", "Content-Location: /a?q"))
        #expect(post("Cache-Control: max-age=60", "Content-Location: /", path: "/"))
        #expect(post("Cache-Control: max-age=60", "Content-Location: /", path: ""))
        #expect(post("Cache-Control: max-age=60", "Content-Location: /", path: nil))
    }

    @Test("RFC 9110 §8.7: only a 200 to a POST equals the answer to a GET", .requirement("S15"))
    func postStatus() {
        for code in 100...599 where code != 200 {
            let status = HTTPResponse.Status(code: code)
            #expect(!post("Cache-Control: max-age=60", "Content-Location: /a?q", status: status), "\(code)")
        }
        #expect(post("Cache-Control: max-age=60", "Content-Location: /a?q"))
    }

    @Test("Rules that forbid storing the response to a GET apply to a POST", .requirement("S15", "S04", "S06"))
    func postRefusals() {
        let location = "Content-Location: /a?q"
        #expect(!post("Cache-Control: max-age=60, no-store", location))
        #expect(!post("Cache-Control: max-age=60", location, field: "Cache-Control: no-store"))
        #expect(!post("Cache-Control: max-age=60, private", location, policy: .shared))
        #expect(!post("Cache-Control: max-age=60", location, policy: .shared, field: "Authorization: x"))
        #expect(!post("Cache-Control: max-age=60", location, policy: CachePolicy(lifetimeOverride: .doNotStore)))
        // PUT and PATCH have no such rule.
        var request = Sample.request(method: .put)
        request.path = "/a?q"
        #expect(decide("Cache-Control: max-age=60", location, to: request).storability != .storable)
    }
}
