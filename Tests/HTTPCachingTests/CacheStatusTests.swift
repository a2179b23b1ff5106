internal import RawStructuredFieldValues
internal import TestSupport

@Suite struct CacheStatusTests {
    private func parsed(_ text: String) throws -> [ItemOrInnerList] {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return try parser.parseListFieldValue()
    }

    private func item(_ status: CacheStatus, name: String = "cachestore") throws -> Item {
        let members = try parsed(status.member(name: name))
        try #require(members.count == 1)
        guard case .item(let item) = members[0] else { throw StructuredHeaderError.invalidItem }
        return item
    }

    @Test(
        "RFC 9211 §2.2: every reason has its token, and hit and fwd exclude each other", .requirement("W02"),
        arguments: [
            (.bypass, "bypass"), (.method, "method"), (.uriMiss, "uri-miss"), (.varyMiss, "vary-miss"),
            (.miss, "miss"), (.request, "request"), (.stale, "stale"), (.partial, "partial"),
        ] as [(ForwardReason, String)])
    func reasons(reason: ForwardReason, token: String) throws {
        let status = CacheStatus.forward(reason)
        #expect(status.member(name: "cachestore") == "cachestore;fwd=\(token)")
        #expect(!status.isHit)
        let parameters = try item(status).rfc9651Parameters
        #expect(parameters["fwd"] == .token(token))
        #expect(parameters["hit"] == nil)
    }

    @Test(
        "RFC 9211 §2: each parameter, and its place", .requirement("W02", "W03"),
        arguments: [
            (.hit(), "cachestore;hit"),
            (.hit(ttl: 376), "cachestore;hit;ttl=376"),
            (.hit(ttl: 0), "cachestore;hit;ttl=0"),
            (.hit(ttl: -412), "cachestore;hit;ttl=-412"),
            (.hit(key: "https://example.com/?a=%20"), #"cachestore;hit;key="https://example.com/?a=%20""#),
            (.hit(detail: "memory"), "cachestore;hit;detail=memory"),
            (.hit(detail: "RFC 9111 §4.2: a … b"), #"cachestore;hit;detail="RFC 9111 Section 4.2: a ... b""#),
            (.hit(detail: "out of memory"), #"cachestore;hit;detail="out of memory""#),
            (.forward(.stale, status: 304, stored: false), "cachestore;fwd=stale;fwd-status=304;stored=?0"),
            (.forward(.miss, collapsed: true), "cachestore;fwd=miss;collapsed"),
            (.forward(.miss, collapsed: false), "cachestore;fwd=miss;collapsed=?0"),
            (
                .forward(.uriMiss, status: 200, ttl: 60, stored: true, collapsed: true, key: "k", detail: "x y"),
                #"cachestore;fwd=uri-miss;fwd-status=200;ttl=60;stored;collapsed;key="k";detail="x y""#
            ),
        ] as [(CacheStatus, String)])
    func members(status: CacheStatus, expected: String) throws {
        #expect(status.member(name: "cachestore") == expected)
        #expect(try item(status).rfc9651BareItem == .token("cachestore"))
    }

    @Test("RFC 9211 §2.3, §2.5, §2.6: a member with hit has no fwd-status, stored or collapsed", .requirement("W03"))
    func onlyWithForward() {
        var status = CacheStatus.forward(.stale, status: 304, ttl: 5, stored: true, collapsed: true)
        status.forward = nil
        #expect(status.isHit)
        #expect(status.member(name: "c") == "c;hit;ttl=5")
    }

    @Test("RFC 9651 §3.3.1: larger numbers saturate at 15 digits", .requirement("W03"), arguments: [Int64.min, .max])
    func largeNumbers(number: Int64) throws {
        let parameters = try item(.forward(.miss, status: Int(number), ttl: number)).rfc9651Parameters
        let expected: RFC9651BareItem = .integer(number < 0 ? -999_999_999_999_999 : 999_999_999_999_999)
        #expect(parameters["ttl"] == expected)
        #expect(parameters["fwd-status"] == expected)
    }

    @Test(
        "RFC 9211 §2: the name is a Token if possible, otherwise a String", .requirement("W01"),
        arguments: [
            ("cachestore", "cachestore;hit"), ("*", "*;hit"), ("example.com:443/a", "example.com:443/a;hit"),
            ("my cache", #""my cache";hit"#), ("10.0.0.1", #""10.0.0.1";hit"#), ("", #""";hit"#),
            (#"a"b\c"#, #""a\"b\\c";hit"#), ("caché", "cach%C3%A9;hit"), ("é t", #""%C3%A9 t";hit"#),
            ("a\r\nX: y", #""a%0D%0AX: y";hit"#),
            (String(repeating: "n", count: 1025), "cache;hit"),
        ])
    func names(name: String, expected: String) throws {
        #expect(CacheStatus.hit().member(name: name) == expected)
        #expect(try parsed(expected).count == 1)
    }

    @Test(
        "No key and no detail breaks the syntax of the field", .requirement("W01", "W03"),
        arguments: [
            ("", ""), (#"""#, #"""#), (#"\"#, #"\"#), ("a, other;hit", "a, other;hit"),
            ("a\r\nSet-Cookie: b", "a%0D%0ASet-Cookie: b"), ("\u{0}\u{7F}\t", "%00%7F%09"),
            ("é", "%C3%A9"), ("日本", "%E6%97%A5%E6%9C%AC"), ("\u{1F600}", "%F0%9F%98%80"),
            (String(repeating: "k", count: 1024), String(repeating: "k", count: 1024)),
        ])
    func hostileTexts(text: String, expected: String) throws {
        let status = CacheStatus.forward(.miss, key: text, detail: text + " ")
        #expect(status.member(name: text).utf8.allSatisfy { (0x20...0x7E).contains($0) })
        let parameters = try item(status, name: text).rfc9651Parameters
        #expect(parameters["key"] == .string(expected))
        #expect(parameters["detail"] == (expected.utf8.count < 1024 ? .string(expected + " ") : nil))
    }

    @Test(
        "A value that is too long is omitted, not cut off", .requirement("W03"), arguments: [1025, 32_768, 1_048_576])
    func longTexts(count: Int) {
        let text = String(repeating: "k", count: count)
        #expect(CacheStatus.hit(ttl: 1, key: text, detail: text).member(name: "c") == "c;hit;ttl=1")
        let encoded = String(repeating: "é", count: 200)
        #expect(CacheStatus.hit(key: encoded).member(name: "c") == "c;hit")
    }

    @Test("RFC 9211 §2: appends the member, and keeps the upstream bytes", .requirement("W01"))
    func append() throws {
        var fields = Sample.fields([
            "cache-status: OriginCache;  hit ; ttl=1100", "X: y", #"Cache-Status: "CDN Company";fwd=uri-miss"#,
        ])
        let before = Array(fields)
        CacheStatus.forward(.stale, status: 304).append(to: &fields, name: "cachestore")
        #expect(Array(fields.prefix(3)) == before)
        let name = try #require(HTTPField.Name("Cache-Status"))
        #expect(
            fields[values: name] == [
                "OriginCache;  hit ; ttl=1100", #""CDN Company";fwd=uri-miss"#,
                "cachestore;fwd=stale;fwd-status=304",
            ])
    }

    @Test("Upstream and own members parse as one list", .requirement("W01"))
    func parseAppended() throws {
        var fields = Sample.fields([#"Cache-Status: "CDN Company";fwd=uri-miss, edge;hit"#])
        CacheStatus.hit(ttl: 30).append(to: &fields, name: "my cache")
        let name = try #require(HTTPField.Name("Cache-Status"))
        let members = try parsed(fields[values: name].joined(separator: ", "))
        #expect(members.count == 3)
        guard case .item(let own) = members[2] else {
            Issue.record("\(members[2])")
            return
        }
        #expect(own.rfc9651BareItem == .string("my cache"))
        #expect(own.rfc9651Parameters["hit"] == true)
        #expect(own.rfc9651Parameters["ttl"] == 30)
    }

    @Test("Malformed upstream bytes stay unchanged", .requirement("W01"))
    func malformedUpstream() throws {
        let name = try #require(HTTPField.Name("Cache-Status"))
        var fields = HTTPFields()
        fields.append(HTTPField(name: name, lenientValue: [0x22, 0xFF, 0x5C]))
        CacheStatus.hit().append(to: &fields, name: "c")
        #expect(fields.count == 2)
        #expect(fields.first?.withUnsafeBytesOfValue { Array($0) } == [0x22, 0xFF, 0x5C])
    }
}
