internal import TestSupport

@Suite struct VaryKeyTests {
    private func select(vary: String..., of request: HTTPRequest) -> VaryKey? {
        VaryKey(response: Sample.fields(vary.map { "Vary: \($0)" }), request: request, fingerprint: Sample.fingerprint)
    }

    private func matches(_ varyKey: VaryKey?, _ request: HTTPRequest) -> Bool? {
        varyKey?.matches(request, fingerprint: Sample.fingerprint)
    }

    @Test("Each nominated name becomes one line, in sorted order")
    func text() {
        let request = Sample.request("Accept: a/b", "Accept-Language: de", "X-Empty:")
        #expect(
            select(vary: "X-Gone, accept-language", "Accept, X-Empty, ACCEPT", of: request)?.text
                == "accept: a/b\naccept-language: de\nx-empty: \nx-gone")
        #expect(select(of: request)?.text == "")
        #expect(select(vary: "", " , ,", of: request)?.text == "")
    }

    @Test("RFC 9111 §4.1: every nominated field has to match", .requirement("V02"))
    func everyField() {
        let request = Sample.request("Accept: a/b", "Accept-Language: de")
        let varyKey = select(vary: "Accept, Accept-Language", of: request)
        #expect(matches(varyKey, request) == true)
        #expect(matches(varyKey, Sample.request("Accept-Language: de", "X: y", "Accept: a/b")) == true)
        #expect(matches(varyKey, Sample.request("Accept: a/b", "Accept-Language: en")) == false)
        #expect(matches(varyKey, Sample.request("Accept: a/c", "Accept-Language: de")) == false)
        #expect(matches(varyKey, Sample.request("Accept: a/b", "Accept-Language: de-DE")) == false)
        #expect(matches(varyKey, Sample.request("Accept: a/bc", "Accept-Language: de")) == false)
        #expect(matches(varyKey, Sample.request("Accept: a/", "Accept-Language: de")) == false)
    }

    @Test("RFC 9111 §4.1: absent matches only absent, in both directions", .requirement("V03"))
    func absent() {
        let absent = select(vary: "Accept", of: Sample.request())
        let empty = select(vary: "Accept", of: Sample.request("Accept:"))
        let present = select(vary: "Accept", of: Sample.request("Accept: a"))
        #expect(matches(absent, Sample.request()) == true)
        #expect(matches(absent, Sample.request("Accept:")) == false)
        #expect(matches(absent, Sample.request("Accept: a")) == false)
        #expect(matches(empty, Sample.request("Accept:")) == true)
        #expect(matches(empty, Sample.request()) == false)
        #expect(matches(empty, Sample.request("Accept: a")) == false)
        #expect(matches(present, Sample.request()) == false)
        #expect(matches(present, Sample.request("Accept:")) == false)
    }

    @Test("Sec-Fetch-* selects by the sent value, or by its absence", .requirement("N02"))
    func fetchMetadata() {
        let page = Sample.request("Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate")
        let script = Sample.request("Sec-Fetch-Dest: script", "Sec-Fetch-Mode: no-cors")
        for stored in [page, script, Sample.request()] {
            let varyKey = select(vary: "Sec-Fetch-Dest, Sec-Fetch-Mode", of: stored)
            for request in [page, script, Sample.request()] {
                #expect(matches(varyKey, request) == (request == stored))
            }
        }
    }

    @Test(
        "RFC 9110 §12.5.5: a * anywhere matches nothing", .requirement("V04", "P29"),
        arguments: [["*"], ["Foo, *"], [", *"], ["Foo", "*"], ["*", "Foo"], ["Foo,*,Bar"], [" * "]])
    func star(vary: [String]) {
        let fields = Sample.fields(vary.map { "Vary: \($0)" })
        let request = Sample.request("Foo: x")
        #expect(VaryKey(response: fields, request: request, fingerprint: Sample.fingerprint) == nil)
    }

    @Test(
        "A malformed list of field names counts as *", .requirement("P29"),
        arguments: ["Foo Bar", "\"Foo\"", "Foo;q=1", "Föö"])
    func noList(vary: String) { #expect(select(vary: vary, of: Sample.request()) == nil) }

    @Test("A field name that begins with * is not a *", .requirement("P29"))
    func starInName() { #expect(select(vary: "*foo", of: Sample.request())?.text == "*foo") }

    @Test("Too many names count as *")
    func manyNames() {
        func names(_ count: Int) -> String { (0..<count).map { "x-\($0)" }.joined(separator: ",") }
        #expect(select(vary: names(64), of: Sample.request())?.text.split(separator: "\n").count == 64)
        #expect(select(vary: names(65), of: Sample.request()) == nil)
        #expect(VaryKey.maxNameCount == 64)
    }

    @Test("RFC 9111 §4.1: lines combine in order, outer whitespace does not count", .requirement("V05"))
    func normalization() {
        let varyKey = select(vary: "Accept", of: Sample.request("Accept: a, b"))
        #expect(varyKey?.text == "accept: a, b")
        #expect(matches(varyKey, Sample.request("Accept:  \ta, b \t")) == true)
        #expect(matches(varyKey, Sample.request("Accept: a", "X: y", "Accept: b ")) == true)
        #expect(matches(varyKey, Sample.request("Accept: b", "Accept: a")) == false)
        #expect(matches(varyKey, Sample.request("Accept: a", "Accept: b", "Accept: c")) == false)
        #expect(matches(varyKey, Sample.request("Accept: a", "Accept:")) == false)
    }

    @Test("RFC 9111 §4.1: names are case-insensitive", .requirement("V10"))
    func anyCase() {
        let varyKey = select(vary: "ACCEPT-language", of: Sample.request("accept-LANGUAGE: de"))
        #expect(varyKey?.text == "accept-language: de")
        #expect(matches(varyKey, Sample.request("Accept-Language: de")) == true)
    }

    @Test(
        "Keeps only a fingerprint of credentials",
        arguments: ["Authorization", "Proxy-Authorization", "Cookie", "COOKIE"])
    func credentials(name: String) throws {
        let request = Sample.request("\(name): secret")
        let varyKey = try #require(select(vary: name, of: request))
        #expect(varyKey.text == "\(name.lowercased()): \(Sample.fingerprint(name: name.lowercased(), value: "secret"))")
        #expect(matches(varyKey, request) == true)
        #expect(matches(varyKey, Sample.request("\(name): other")) == false)
        #expect(matches(varyKey, Sample.request()) == false)
    }

    @Test("RFC 9113 §8.2.3: cookies in one line equal cookies in several")
    func cookies() {
        let varyKey = select(vary: "Cookie", of: Sample.request("Cookie: a=1", "Cookie: b=2"))
        #expect(matches(varyKey, Sample.request("Cookie: a=1; b=2")) == true)
        #expect(matches(varyKey, Sample.request("Cookie: a=1, b=2")) == false)
    }

    @Test("Values that are not UTF-8 match byte by byte, and stay readable")
    func otherBytes() {
        func request(_ bytes: [UInt8], _ name: HTTPField.Name = .accept) -> HTTPRequest {
            var request = Sample.request()
            request.headerFields.append(HTTPField(name: name, value: bytes))
            return request
        }
        let latin = request(Array("caf".utf8) + [0xE9])
        let varyKey = select(vary: "Accept", of: latin)
        #expect(varyKey?.text == "accept:caf%E9")
        #expect(matches(varyKey, latin) == true)
        #expect(matches(varyKey, request(Array("caf".utf8) + [0xE8])) == false)
        #expect(matches(varyKey, request(Array("caf%E9".utf8))) == false)
        #expect(matches(varyKey, request(Array("café".utf8))) == false)
        #expect(select(vary: "Accept", of: request(Array("a%".utf8) + [0xFF]))?.text == "accept:a%25%FF")

        let secret = select(vary: "Cookie", of: request([0xE9], .cookie))
        #expect(matches(secret, request([0xE9], .cookie)) == true)
        #expect(matches(secret, request([0xE8], .cookie)) == false)
        #expect(matches(secret, request(Array("%E9".utf8), .cookie)) == false)
    }

    @Test("Characters that are canonically equivalent are different bytes")
    func canonicalEquivalence() {
        let composed = Sample.request("Accept: \u{E9}", "Accept: x")
        let decomposed = Sample.request("Accept: e\u{301}", "Accept: x")
        let varyKey = select(vary: "Accept", of: composed)
        #expect(matches(varyKey, composed) == true)
        #expect(matches(varyKey, decomposed) == false)
        #expect(VaryKey(text: "\u{E9}") != VaryKey(text: "e\u{301}"))
        #expect(Set(["\u{E9}", "e\u{301}", "e"].map { VaryKey(text: $0) }).count == 3)
        #expect(Set(["a", "a"].map { VaryKey(text: $0) }).count == 1)
    }

    @Test("Restores a key from its text")
    func fromText() {
        let request = Sample.request("Accept: a", "Cookie: b")
        let text = select(vary: "Accept, Cookie, X", of: request)?.text ?? ""
        #expect(matches(VaryKey(text: text), request) == true)
        #expect(matches(VaryKey(text: ""), request) == true)
    }

    @Test(
        "A text that is not a key of the request matches nothing",
        arguments: ["accept: b", "\n", "accept", ":", "accept:a", " accept", "accept: a\n", "accept: a\naccept: b"])
    func damagedText(text: String) { #expect(matches(VaryKey(text: text), Sample.request("Accept: a")) == false) }
}
