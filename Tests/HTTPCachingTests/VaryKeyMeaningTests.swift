internal import TestSupport

/// Requests that match although their bytes differ, and requests that must not match.
@Suite struct VaryKeyMeaningTests {
    private func matches(
        _ name: String, _ stored: String, _ presented: [String], nominatesAuthorization: Bool = false
    ) throws -> Bool {
        let varyKey = try #require(
            VaryKey(
                response: Sample.fields(["Vary: \(name)"]), request: Sample.request("\(name): \(stored)"),
                fingerprint: Sample.fingerprint))
        // Round trip through a store.
        var request = Sample.request()
        request.headerFields = Sample.fields(presented.map { "\(name): \($0)" })
        return VaryKey(text: varyKey.text).matches(
            request, fingerprint: Sample.fingerprint, nominatesAuthorization: nominatesAuthorization)
    }

    // MARK: V05

    @Test(
        "RFC 9111 §4.1: ranges with the same weights match in any order, case and spacing", .requirement("V05"),
        arguments: [
            ("Accept-Language", "en, de", ["de, en"]),
            ("Accept-Language", "en, de", ["EN,DE"]),
            ("Accept-Language", "en, de", ["de", "en"]),
            ("Accept-Language", "en, de", [",, en ,\t, de,"]),
            ("Accept-Language", "en, de", ["en, de, en"]),
            ("Accept-Language", "en;q=0.5, de", ["de;q=1, EN ; Q=0.500"]),
            ("Accept-Language", "en-GB, *;q=0", ["*;q=0.0, en-gb;q=1.000"]),
            ("Accept-Encoding", "gzip, br;q=0.1", ["BR;q=0.10,GZIP"]),
            ("Accept-Encoding", "identity;q=0", ["identity; q=0."]),
            ("Accept-Encoding", "", [","]),
            ("Accept-Charset", "utf-8, iso-8859-1;q=0.9", ["ISO-8859-1;q=0.90", "UTF-8"]),
            ("Accept", "text/html, */*;q=0.8", ["*/*;q=0.8,TEXT/html"]),
            ("Accept", "text/html;level=1;q=0.5", ["text/html; LEVEL=1 ; q=0.5"]),
            ("Accept", "a/b;x=\"y, z\"", ["A/B;x=\"y, z\";q=1"]),
            ("TE", "trailers, deflate;q=0.5", ["trailers ,deflate;q=0.5"]),
            ("Prefer", "a=\"x, y\", b", ["a=\"x, y\",b"]),
            ("Prefer", "a, b", ["a", "b"]),
        ])
    func same(name: String, stored: String, presented: [String]) throws {
        #expect(try matches(name, stored, presented))
    }

    @Test(
        "RFC 9111 §4.1: values with a possibly different meaning do not match", .requirement("V05", "V02"),
        arguments: [
            ("Accept-Language", "en, de", ["en"]), ("Accept-Language", "en", ["en, de"]),
            ("Accept-Language", "en;q=0.5, de", ["en, de;q=0.5"]), ("Accept-Language", "en", ["en-GB"]),
            ("Accept-Language", "en", ["en;q=0.999"]), ("Accept-Language", "en;q=0", []),
            ("Accept-Language", "", []), ("Accept-Language", "en", [""]),
            // Malformed values compare byte by byte.
            ("Accept-Language", "en;q=2", ["EN;q=2"]), ("Accept-Language", "en;q=0.1234", ["EN;q=0.1234"]),
            ("Accept-Language", "en;q", ["EN;q"]), ("Accept-Language", "en;x=1", ["EN;x=1"]),
            ("Accept-Language", "en de", ["EN de"]), ("Accept-Language", "en;q=1.001", ["EN;q=1.001"]),
            ("Accept-Language", "en;q=0.5;q=0.6", ["EN;q=0.5;q=0.6"]), ("Accept-Language", "é, a", ["a, é"]),
            // Parameter values may be case-sensitive; text after a weight is not parsed.
            ("Accept", "a/b;x=y", ["a/b;x=Y"]), ("Accept", "a/b;x=y", ["a/b;x=\"y\""]),
            ("Accept", "a/b;q=0.5;x=y", ["A/b;q=0.5;x=y"]), ("Accept", "a, b", ["b, a"]),
            ("Accept", "a/b;x=1", ["a/b"]), ("Accept", "a/b;x=\"", ["A/b;x=\""]),
            ("Accept-Encoding", "x-gzip", ["gzip"]),
            // In other lists, order and case count; in unknown fields, every byte inside.
            ("TE", "a, b", ["b, a"]), ("TE", "a", ["A"]), ("Prefer", "a=\"x, y\"", ["a=\"x,y\""]),
            ("X-List", "a, b", ["a,b"]), ("X-List", "a", ["A"]), ("User-Agent", "a (b, c)", ["a (b,c)"]),
            ("Origin", "HTTPS://a", ["https://a"]),
        ])
    func different(name: String, stored: String, presented: [String]) throws {
        #expect(try !matches(name, stored, presented))
    }

    @Test(
        "Credentials are never normalised", .requirement("V05"),
        arguments: ["Authorization", "Proxy-Authorization", "Cookie"])
    func credentials(name: String) throws {
        #expect(try matches(name, "a, b", ["a, b"]))
        #expect(try !matches(name, "a, b", ["a,b"]))
        #expect(try !matches(name, "a, b", ["b, a"]))
        #expect(try !matches(name, "a", ["A"]))
    }

    @Test("The text keeps the sent bytes", .requirement("V05"))
    func text() {
        let varyKey = VaryKey(
            response: Sample.fields(["Vary: Accept-Language"]),
            request: Sample.request("Accept-Language: EN ;q=1.0,de"),
            fingerprint: Sample.fingerprint)
        #expect(varyKey?.text == "accept-language: EN ;q=1.0,de")
    }

    @Test("With random bytes, a value matches itself, and no text traps", .requirement("P13", "V05"))
    func anyBytes() throws {
        var generator = SeededGenerator()
        let pieces = ["en", "de", "a/b", "*", ",", ";", "q=", "0.5", "1", "x=", "\"", "\\", " ", "\t", "é", "/"]
        func value() -> String {
            (0..<Int.random(in: 0...10, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
        }
        for _ in 0..<Repetitions.count(2000, debug: 500) {
            for name in ["Accept", "Accept-Language", "TE"] {
                let one = value()
                let other = value()
                #expect(try matches(name, one, [one]), "\(generator)")
                #expect(try matches(name, one, [other]) == matches(name, other, [one]), "\(generator)")
            }
        }
    }

    // MARK: V09

    private func selects(
        _ stored: [String], vary: String = "Accept-Language", language: [String], request: [String]
    ) -> Bool {
        var first = Sample.request()
        first.headerFields = Sample.fields(stored)
        let response = Sample.fields(["Vary: \(vary)"] + language.map { "Content-Language: \($0)" })
        let varyKey = VaryKey(response: response, request: first, fingerprint: Sample.fingerprint)
        var second = Sample.request()
        second.headerFields = Sample.fields(request)
        return varyKey?.selects(response, for: second, fingerprint: Sample.fingerprint) ?? false
    }

    @Test(
        "RFC 9111 §4.1: a response in the single language that the request prefers matches", .requirement("V09"),
        arguments: [
            (["de"], "de", true), (["DE"], "de", true), (["de"], "DE, en;q=0.9, *;q=0.1", true),
            (["de"], "en;q=0.9, de", true), (["de-AT"], "de-at", true), (["de"], "de;q=0.1", true),
            (["de"], "de, de", true), (["de"], "de, en", false), (["de"], "en, de;q=0.9", false),
            (["de"], "de-AT", false), (["de-AT"], "de", false), (["de"], "*", false), (["*"], "*", false),
            (["de"], "de;q=0", false), (["de"], "", false), (["de"], "de;q=2", false), (["de"], "de, en;q=x", false),
            (["de, en"], "de", false), (["de", "en"], "de", false), ([], "de", false), ([""], "de", false),
            (["de;q=0.5"], "de", false),
        ] as [([String], String, Bool)])
    func languages(content: [String], accept: String, expected: Bool) {
        #expect(
            selects(["Accept-Language: fr"], language: content, request: ["Accept-Language: \(accept)"]) == expected)
        #expect(selects([], language: content, request: ["Accept-Language: \(accept)"]) == expected)
    }

    @Test("Only if Vary nominates Accept-Language, and all other nominated fields match", .requirement("V09"))
    func otherFields() {
        let german = ["Accept-Language: de", "X: 1"]
        #expect(selects(["X: 1"], vary: "X, Accept-Language", language: ["de"], request: german))
        #expect(!selects(["X: 2"], vary: "X, Accept-Language", language: ["de"], request: german))
        #expect(!selects(["X: 1"], vary: "X", language: ["de"], request: german))
        #expect(!selects(["X: 1"], vary: "X-Accept-Language", language: ["de"], request: german))
        #expect(!selects(["X: 1"], vary: "*", language: ["de"], request: german))
        #expect(!selects(["X: 1"], language: ["de"], request: ["X: 1"]))
    }

    // MARK: Credentials

    private func varyKey(vary: String = "", _ request: HTTPRequest) -> VaryKey? {
        VaryKey(
            response: Sample.fields(["Vary: \(vary)"]), request: request, fingerprint: Sample.fingerprint,
            nominatesAuthorization: true)
    }

    @Test(
        "RFC 9111 §7: a response to credentials never answers a request with others, or without",
        .requirement("K4", "S19"), arguments: ["", "Accept"])
    func authorization(vary: String) throws {
        let requests = [
            Sample.request("Accept: a/b"), Sample.request("Authorization: one", "Accept: a/b"),
            Sample.request("Accept: a/b", "authorization: two"), Sample.request("Authorization:", "Accept: a/b"),
        ]
        for (index, stored) in requests.enumerated() {
            let varyKey = try #require(self.varyKey(vary: vary, stored))
            #expect(varyKey.text.contains("authorization") == (index > 0))
            #expect(!varyKey.text.contains("one"))
            for (other, request) in requests.enumerated() {
                #expect(
                    varyKey.matches(request, fingerprint: Sample.fingerprint, nominatesAuthorization: true)
                        == (index == other), "\(index) \(other)")
            }
        }
    }

    @Test("The key contains the line of Authorization once, in sorted order", .requirement("K4"))
    func authorizationLine() {
        let request = Sample.request("Authorization: one", "Accept: a/b", "X: y")
        let secret = Sample.fingerprint(name: "authorization", value: "one")
        #expect(varyKey(request)?.text == "authorization: \(secret)")
        #expect(varyKey(vary: "X, Accept", request)?.text == "accept: a/b\nauthorization: \(secret)\nx: y")
        #expect(varyKey(vary: "Authorization", request)?.text == "authorization: \(secret)")
        #expect(varyKey(vary: "Authorization", Sample.request())?.text == "authorization")
        #expect(varyKey(vary: "*", request) == nil)
    }

    @Test("Does not nominate Authorization unasked; a response stays with its credentials", .requirement("S19"))
    func notNominated() throws {
        let request = Sample.request("Authorization: one")
        let plain = VaryKey(response: HTTPFields(), request: request, fingerprint: Sample.fingerprint)
        #expect(plain?.text == "")
        #expect(plain?.matches(request, fingerprint: Sample.fingerprint) == true)
        #expect(plain?.matches(request, fingerprint: Sample.fingerprint, nominatesAuthorization: true) == false)
        #expect(varyKey(request)?.matches(Sample.request(), fingerprint: Sample.fingerprint) == false)
        // A longer field name with the same beginning is another field.
        let other = VaryKey(text: "authorization-x: y")
        #expect(!other.matches(request, fingerprint: Sample.fingerprint, nominatesAuthorization: true))
    }
}
