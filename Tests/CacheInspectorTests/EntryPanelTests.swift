import CacheInspector
import TestSupport

@Suite("Entry panel")
struct EntryPanelTests {
    let panel: Panel

    init() throws { panel = try Panel() }

    @Test("hides secret values until the reader asks for them")
    func secrets() async throws {
        let entry = try panel.insert(
            "https://example.com/",
            head: "Set-Cookie: session=secret1\nAuthorization: secret2\nCookie: secret3\nX-Other: open\n")
        let answer = try await panel.get("api/entry", "id=\(entry.id)")
        #expect(answer.status == 200)
        #expect(!answer.text.contains("secret1"))
        #expect(!answer.text.contains("secret2"))
        #expect(!answer.text.contains("secret3"))
        #expect(answer.text.contains("open"))
        #expect(answer.bool("fields.1.is_secret") == true)
        #expect(answer.integer("fields.1.length") == 15)
        let field = try await panel.get("api/field", "id=\(entry.id)&index=1")
        #expect(field.string("value") == "session=secret1")
        #expect(field.string("name") == "Set-Cookie")
    }

    @Test("markup in a field value is escaped in the JSON")
    func markup() async throws {
        let value = "<script>alert(1)</script>\"&'\u{7f}"
        let entry = try panel.insert("https://example.com/%3Cscript%3E", head: "X-Markup: \(value)\n")
        let answer = try await panel.get("api/entry", "id=\(entry.id)")
        #expect(!answer.text.contains("<"))
        #expect(!answer.text.contains(">"))
        #expect(!answer.text.contains("&"))
        #expect(answer.string("fields.1.value") == value)
        #expect(answer.answer.fields[.contentType] == "application/json")
    }

    @Test("truncates a long value; its own request returns the whole value")
    func longValue() async throws {
        let value = String(repeating: "x", count: 200_000)
        let entry = try panel.insert("https://example.com/", head: "X-Long: \(value)\n")
        let answer = try await panel.get("api/entry", "id=\(entry.id)")
        #expect(answer.bool("fields.1.is_cut") == true)
        #expect(answer.integer("fields.1.length") == 200_000)
        #expect(answer.bytes.count < 20_000)
        #expect(try await panel.get("api/field", "id=\(entry.id)&index=1").string("value") == value)
    }

    @Test("the freshness includes the terms of the age")
    func freshness() async throws {
        let clock = ManualClock()
        let panel = try Panel(clock: clock)
        let entry = try panel.insert(
            "https://example.com/", head: "Cache-Control: max-age=60\nAge: 5\nETag: W/\"1\"\n", maxAge: 55)
        clock.advance(by: .seconds(10))
        let answer = try await panel.get("api/entry", "id=\(entry.id)")
        #expect(answer.integer("freshness.lifetime") == 60)
        #expect(answer.string("freshness.lifetime_source") == "max-age")
        #expect(answer.integer("freshness.age") == 15)
        #expect(answer.integer("freshness.age_field") == 5)
        #expect(answer.integer("freshness.resident_time") == 10)
        #expect(answer.integer("freshness.fresh_for") == 45)
        #expect(answer.string("validators.0.value") == "W/\"1\"")
        #expect(answer.bool("validators.0.is_weak") == true)
    }

    @Test("lists the fields that Vary names, and those in which the variants differ")
    func variants() async throws {
        let german = try panel.insert("https://example.com/", "de", variant: "accept: a\naccept-language: de")
        try panel.insert("https://example.com/", "en", variant: "accept: a\naccept-language: en")
        try panel.insert("https://example.com/", "none", variant: "accept: a\naccept-language")
        let answer = try await panel.get("api/entry", "id=\(german.id)")
        #expect(answer.count("variants") == 3)
        #expect(answer.text.contains(#""vary":["accept","accept-language"],"differing":["accept-language"]"#))
        #expect(answer.bool("variants.0.is_this") == true)
        #expect(answer.string("variants.1.fields.1.value") == "en")
        #expect(answer.string("variants.2.fields.1.name") == "accept-language")
        #expect(answer.string("variants.2.fields.1.value") == nil)
    }

    @Test("lists derived representations and failures")
    func derivedAndFailures() async throws {
        let entry = try panel.insert("https://example.com/", "original")
        try await panel.store.insertDerived(Data("small".utf8), name: "thumb", of: entry)
        try await panel.store.recordFailure(for: entry.key, status: 503)
        let answer = try await panel.get("api/entry", "id=\(entry.id)")
        #expect(answer.string("derived.0.name") == "thumb")
        #expect(answer.integer("failures.0.status") == 503)
        #expect(answer.bool("file.exists") == true)
        let derived = try await panel.get("api/derived", "id=\(entry.id)&name=thumb")
        #expect(derived.text == "small")
        #expect(derived.answer.fields[.contentSecurityPolicy]?.hasPrefix("sandbox;") == true)
    }

    @Test("an unknown entry gets 404", arguments: ["api/entry", "api/field", "api/body", "api/derived"])
    func notFound(_ path: String) async throws {
        #expect(try await panel.get(path, "id=1&index=0&name=x").status == 404)
        for id in ["", "x", "-1", "../1", "1%00", "9223372036854775808", "%2e%2e%2fblobs"] {
            #expect(try await panel.get(path, "id=\(id)&index=0&name=x").status == 400)
        }
    }

    @Test("the name of a derived representation is not a path")
    func derivedTraversal() async throws {
        let entry = try panel.insert("https://example.com/")
        for name in ["..%2F..%2Findex.sqlite", "%2Fetc%2Fpasswd", "..", "%00"] {
            #expect(try await panel.get("api/derived", "id=\(entry.id)&name=\(name)").status == 404)
        }
    }
}

@Suite("Body of an entry")
struct BodyPanelTests {
    let panel: Panel

    init() throws { panel = try Panel() }

    struct Case: CustomTestStringConvertible {
        let name: String
        var type: String?
        let body: String
        let sent: String
        let preview: String
        var testDescription: String { name }
    }

    static let script = "<script>fetch('/')</script>"

    @Test(
        "sends a body as text, raster image or bytes; ignores any other Content-Type of the origin",
        arguments: [
            Case(
                name: "HTML with a script", type: "text/html", body: "<!doctype html>\(script)",
                sent: "text/plain; charset=utf-8", preview: "text"),
            Case(
                name: "SVG with a script", type: "image/svg+xml",
                body: "<svg xmlns=\"http://www.w3.org/2000/svg\">\(script)</svg>", sent: "text/plain; charset=utf-8",
                preview: "text"),
            Case(
                name: "XHTML", type: "application/xhtml+xml", body: "<html>\(script)</html>",
                sent: "text/plain; charset=utf-8", preview: "text"),
            Case(
                name: "JavaScript", type: "text/javascript", body: "alert(1)", sent: "text/plain; charset=utf-8",
                preview: "text"),
            Case(
                name: "JSON", type: "application/json", body: "{}", sent: "text/plain; charset=utf-8", preview: "json"),
            Case(
                name: "HTML as an image", type: "image/png", body: script, sent: "text/plain; charset=utf-8",
                preview: "text"),
            Case(name: "GIF", type: "text/html", body: "GIF89a\(script)", sent: "image/gif", preview: "image"),
            Case(
                name: "bytes", type: "text/html", body: "\u{0}\u{1}\(script)", sent: "application/octet-stream",
                preview: "binary"),
            Case(
                name: "PDF", type: "application/pdf", body: "%PDF-1.7\u{0}", sent: "application/octet-stream",
                preview: "binary"),
            Case(name: "nothing", type: "text/html", body: "", sent: "text/plain; charset=utf-8", preview: "empty"),
        ])
    func types(_ c: Case) async throws {
        let entry = try panel.insert("https://example.com/", c.body, type: c.type)
        let answer = try await panel.get("api/body", "id=\(entry.id)")
        #expect(answer.answer.fields[.contentType] == c.sent)
        #expect(answer.answer.fields[.contentSecurityPolicy] == "sandbox; default-src 'none'; frame-ancestors 'self'")
        #expect(answer.text == c.body)
        #expect(try await panel.get("api/entry", "id=\(entry.id)").string("preview") == c.preview)
        let download = try await panel.get("api/body", "id=\(entry.id)&download=1")
        #expect(download.answer.fields[.contentType] == "application/octet-stream")
        #expect(download.answer.fields[.contentDisposition]?.hasPrefix("attachment;") == true)
    }

    /// gzip of `{"number": 1}`.
    private static let json = "H4sIAAAAAAACA6tWyivNTUotUrJSMKwFAO8VNOANAAAA"
    /// Twice gzip of 64 MiB of zeros.
    private static let bomb = """
        H4sIAAAAAAACA+3cr05CcRTA8YtcNyYbYiAZ5BGIFAYazAbNjgcgkmVzJgsvQWZjc7PSeAO02f0TnDM5L9z7GL/z+aSTTzw7+549NrLSQf1jXa\
        vth9n8f/nVOMoAAACAxM1e7+vlMSDrFtvLqxsAAAAgdePjVl4dBf5uT8+tAwAAAJL3MOi3qw+B77tJbh0AAACQvM7v26i6BWyKp5Nr+wAAAIDk\
        vQgGAAAAQCiCAQAAABCLYAAAAADEIhgAAAAAwQgGAAAAQCyCAQAAABCLYAAAAADEIhgAAAAAwQgGAAAAQCyCAQAAABDLYtDvlo8B7Z9iOrw4zA\
        AAAIjkufnZe1/th3wHPEzs+uL+AAA=
        """

    private func store(_ data: Data, head: String, in panel: Panel) throws -> StoredEntry {
        let now = panel.store.configuration.clock()
        return try panel.store.insert(
            data,
            metadata: EntryMetadata(
                kind: .content, variant: "", status: 200, contentType: "application/json", requestedAt: now,
                receivedAt: now, expiresAt: nil, head: Array(head.utf8)),
            for: CacheKey(url: "https://example.com/"))
    }

    @Test("shows a coded body without its coding, and saves the stored bytes")
    func coded() async throws {
        let data = try #require(Data(base64Encoded: Self.json))
        let entry = try store(data, head: "Content-Encoding: gzip\n", in: panel)
        let answer = try await panel.get("api/body", "id=\(entry.id)")
        #expect(answer.text == #"{"number": 1}"#)
        #expect(answer.answer.fields[.contentType] == "text/plain; charset=utf-8")
        #expect(answer.answer.fields[named: "X-Body-Length"] == "13")
        let cut = try await panel.get("api/body", "id=\(entry.id)&max=30")
        #expect(cut.text.count <= 30)
        #expect(try await panel.get("api/body", "id=\(entry.id)&download=1").bytes == Array(data))
        let described = try await panel.get("api/entry", "id=\(entry.id)")
        #expect(described.string("preview") == "json")
        #expect(described.bool("is_decoded") == true)
    }

    @Test("a body that expands to gigabytes is decoded up to the limit")
    func bomb() async throws {
        let data = try #require(Data(base64Encoded: Self.bomb))
        let entry = try store(data, head: "Content-Encoding: gzip, gzip\n", in: panel)
        let answer = try await panel.get("api/body", "id=\(entry.id)&max=1048576")
        #expect((1...1_048_576).contains(answer.bytes.count))
        #expect(answer.answer.fields[named: "X-Body-Length"] == nil)
    }

    @Test("a body of an unknown or wrong coding is sent as bytes", arguments: ["compress", "gzip", "gzip, x"])
    func undecodable(_ coding: String) async throws {
        let entry = try panel.insert("https://example.com/", "\u{0}\u{1}", head: "Content-Encoding: \(coding)\n")
        let answer = try await panel.get("api/body", "id=\(entry.id)")
        #expect(answer.bytes == [0, 1])
        #expect(answer.answer.fields[.contentType] == "application/octet-stream")
    }

    @Test("`max` truncates a text; a field has the whole length")
    func cut() async throws {
        let entry = try panel.insert("https://example.com/", String(repeating: "ä", count: 1_000))
        let answer = try await panel.get("api/body", "id=\(entry.id)&max=11")
        #expect(answer.bytes.count == 11)
        #expect(answer.answer.fields[named: "X-Body-Length"] == "2000")
        #expect(try await panel.get("api/body", "id=\(entry.id)&max=1048577").status == 400)
    }

    @Test("a body without its file gets 404")
    func missing() async throws {
        let entry = try panel.insert("https://example.com/", "lost")
        let body = try #require(try panel.store.openBody(of: entry)?.fileURL)
        try FileManager.default.removeItem(at: body)
        #expect(try await panel.get("api/body", "id=\(entry.id)").status == 404)
    }
}
