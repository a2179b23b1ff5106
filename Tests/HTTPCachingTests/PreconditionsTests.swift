internal import TestSupport

@Suite struct PreconditionsTests {
    private static let sunday = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let monday = "Mon, 07 Nov 1994 08:49:37 GMT"
    private static let saturday = "Sat, 05 Nov 1994 08:49:37 GMT"

    private func isNotModified(
        _ request: [String], _ stored: [String], status: HTTPResponse.Status = .ok, method: HTTPRequest.Method = .get
    ) -> Bool {
        var response = Sample.stored(status: status)
        let lines = Sample.fields(stored)
        for field in lines where response.fields.contains(field.name) { response.fields[field.name] = nil }
        response.fields.append(contentsOf: lines)
        return Preconditions(HTTPRequest(method: method, request)).isNotModified(response)
    }

    // MARK: Fields of the request

    @Test("RFC 9111 §4.3.2: only the origin evaluates If-Match and If-Unmodified-Since", .requirement("C10"))
    func forwarded() {
        #expect(Preconditions(Sample.request("If-Match: \"a\"")).mustBeForwarded)
        #expect(Preconditions(Sample.request("if-unmodified-since: \(Self.sunday)")).mustBeForwarded)
        #expect(Preconditions(Sample.request("If-None-Match: \"a\"", "If-Match: *")).mustBeForwarded)
        #expect(!Preconditions(Sample.request("If-None-Match: \"a\"")).mustBeForwarded)
        #expect(!Preconditions(Sample.request("If-Modified-Since: \(Self.sunday)")).mustBeForwarded)
        // Neither field leads to a 304.
        #expect(!isNotModified(["If-Match: \"a\""], ["ETag: \"a\""]))
        #expect(!isNotModified(["If-Unmodified-Since: \(Self.sunday)"], ["Last-Modified: \(Self.saturday)"]))
    }

    @Test("The fields that are conditions of the caller", .requirement("Q06"))
    func emptiness() {
        #expect(Preconditions(Sample.request()).isEmpty)
        #expect(Preconditions(Sample.request("Range: bytes=0-", "If-Range: \"a\"", "Accept: a/b")).isEmpty)
        for name in ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "IF-NONE-MATCH"] {
            #expect(!Preconditions(Sample.request("\(name): x")).isEmpty, "\(name)")
            #expect(!Preconditions(Sample.request("\(name):")).isEmpty, "\(name)")
        }
    }

    @Test(
        "RFC 9110 §13.1.2: the elements of If-None-Match, byte for byte", .requirement("C07", "P27"),
        arguments: [
            ([#""a""#], [#""a""#]),
            ([#""a", W/"b""#, #""c""#], [#""a""#, #"W/"b""#, #""c""#]),
            (["*"], ["*"]),
            ([" ,, \"a\" ,\t, \"b\","], [#""a""#, #""b""#]),
            ([""], []),
            ([" , ,"], []),
            // Quoted commas are data, and a backslash escapes no quote.
            ([#""a, b", "c""#], [#""a, b""#, #""c""#]),
            ([#""a\", "b""#], [#""a\""#, #""b""#]),
            ([#"w/"a,b", x"#], [#"w/"a,b""#, "x"]),
            // Malformed tags stay as they are.
            (["a, b"], ["a", "b"]),
            ([#""a"b, "c""#], [#""a"b"#, #""c""#]),
            ([#""a, "b""#], [#""a, "b""#]),
            ([#""a, b"#, #""c""#], [#""a, b"#, #""c""#]),
        ] as [([String], [String])])
    func elements(lines: [String], expected: [String]) {
        let request = HTTPRequest(method: .get, lines.map { "If-None-Match: \($0)" })
        #expect(Preconditions(request).entityTags.map { String(decoding: $0.bytes, as: UTF8.self) } == expected)
    }

    // MARK: If-None-Match

    @Test(
        "RFC 9110 §13.1.2: If-None-Match compares weakly", .requirement("C07", "P27"),
        arguments: [
            ([#""a""#], #""a""#, true),
            ([#"W/"a""#], #""a""#, true),
            ([#""a""#], #"W/"a""#, true),
            ([#"W/"a""#], #"W/"a""#, true),
            ([#""b""#], #""a""#, false),
            ([#""A""#], #""a""#, false),
            ([#""b", "a""#], #""a""#, true),
            ([#""b""#, #""c", W/"a""#], #""a""#, true),
            (["*"], #""a""#, true),
            ([" * "], #""a""#, true),
            (["*"], "", true),
            // In a list, * is an ordinary tag.
            ([#"*, "b""#], #""a""#, false),
            (["*", "*"], #""a""#, false),
            ([#""*""#], #""a""#, false),
            ([""], #""a""#, false),
            ([#""a""#], "", false),
            // Commas and backslashes are ordinary bytes.
            ([#""a,b""#], #""a,b""#, true),
            ([#""a,b""#], #""a""#, false),
            ([#""x, "a", y""#], #""a""#, false),
            ([#""a\"b""#], #""a\"b""#, true),
            ([#""a\\b""#], #""a\b""#, false),
            // A tag without quotes differs from the quoted one.
            (["a"], #""a""#, false),
            ([#""a""#], "a", false),
            (["a"], "a", true),
            (["b, a"], "a", true),
            ([#"w/"a""#], #""a""#, false),
            ([#"w/"a""#], #"w/"a""#, true),
            // An unclosed quote takes in the rest of the line, and matches only itself.
            ([#""a"#], #""a""#, false),
            ([#""b, "a""#], #""a""#, false),
            ([#""b, "a"#], #""a"#, false),
            ([#""é""#], #""é""#, true),
            (["\"\u{E9}\""], "\"e\u{301}\"", false),
        ] as [([String], String, Bool)])
    func entityTags(lines: [String], stored: String, expected: Bool) {
        let request = lines.map { "If-None-Match: \($0)" }
        #expect(isNotModified(request, ["ETag: \(stored)"]) == expected)
        #expect(isNotModified(request, ["ETag: \(stored)"], method: .head) == expected)
        #expect(!isNotModified(request, ["ETag: \(stored)"], method: .post))
    }

    @Test("Bytes that are not UTF-8 are compared as bytes", .requirement("P27"))
    func otherBytes() {
        func field(_ name: HTTPField.Name, _ byte: UInt8) -> HTTPField {
            HTTPField(name: name, lenientValue: [0x22, byte, 0x22])
        }
        var request = Sample.request()
        request.headerFields.append(field(.ifNoneMatch, 0xE9))
        var stored = Sample.stored()
        stored.fields.append(field(.eTag, 0xE9))
        #expect(Preconditions(request).isNotModified(stored))
        stored.fields[fields: .eTag] = [field(.eTag, 0xE8)]
        #expect(!Preconditions(request).isNotModified(stored))
    }

    @Test("RFC 9111 §4.3.2: only a 200 or a 206 becomes a 304", .requirement("C07"))
    func statuses() {
        for code in [200, 203, 204, 206, 301, 404, 410, 500] {
            let status = HTTPResponse.Status(code: code)
            let expected = code == 200 || code == 206
            #expect(isNotModified(["If-None-Match: \"a\""], ["ETag: \"a\""], status: status) == expected, "\(code)")
            #expect(isNotModified(["If-None-Match: *"], [], status: status) == expected, "\(code)")
            #expect(isNotModified(["If-Modified-Since: \(Self.sunday)"], [], status: status) == expected, "\(code)")
        }
    }

    // MARK: If-Modified-Since

    @Test(
        "RFC 9110 §13.2.2: with If-None-Match, If-Modified-Since is ignored", .requirement("C08"),
        arguments: ["\"b\"", "", "b", "\"b"])
    func precedence(tags: String) {
        let date = "If-Modified-Since: \(Self.sunday)"
        let stored = ["ETag: \"a\"", "Last-Modified: \(Self.saturday)"]
        #expect(!isNotModified(["If-None-Match: \(tags)", date], stored))
        #expect(!isNotModified([date, "If-None-Match: \(tags)"], stored))
        #expect(isNotModified([date], stored))
        #expect(isNotModified(["If-None-Match: \"a\"", "If-Modified-Since: \(Self.saturday)"], stored))
    }

    @Test(
        "RFC 9110 §13.1.3: compares If-Modified-Since with Last-Modified", .requirement("C08", "C09"),
        arguments: [
            (sunday, true), (monday, true), (saturday, false),
            ("Sunday, 06-Nov-94 08:49:37 GMT", true), ("Sun Nov  6 08:49:37 1994", true),
            ("sun, 06 nov 1994 08:49:37 gmt", true),
            ("Sun, 06 Nov 1994 08:49:36 GMT", false),
            // Not one valid HTTP-date.
            ("Mon, 07 Nov 1994 08:49:37 CET", false), ("Mon, 07 Nov 1994", false), ("0", false), ("", false),
            ("784111777", false), ("\(monday), \(monday)", false), ("\"\(monday)\"", false),
        ])
    func modifiedSince(condition: String, expected: Bool) {
        let stored = ["Last-Modified: \(Self.sunday)", "Date: \(Self.monday)"]
        #expect(isNotModified(["If-Modified-Since: \(condition)"], stored) == expected)
        #expect(isNotModified(["If-Modified-Since: \(condition)"], stored, method: .head) == expected)
        #expect(!isNotModified(["If-Modified-Since: \(condition)"], stored, method: .put))
    }

    @Test("RFC 9110 §13.1.3: a repeated If-Modified-Since is ignored", .requirement("C08"))
    func repeated() {
        let line = "If-Modified-Since: \(Self.monday)"
        #expect(isNotModified([line], ["Last-Modified: \(Self.sunday)"]))
        #expect(!isNotModified([line, line], ["Last-Modified: \(Self.sunday)"]))
        #expect(!isNotModified([line, "If-Modified-Since: x"], ["Last-Modified: \(Self.sunday)"]))
        #expect(!Preconditions(Sample.request(line)).isEmpty)
    }

    @Test(
        "RFC 9111 §4.3.2: without Last-Modified compares with Date, otherwise with the time of receipt",
        .requirement("C09"),
        arguments: [
            (["Date: \(sunday)"], sunday, true), (["Date: \(sunday)"], saturday, false),
            (["Date: \(monday)"], sunday, false),
            // Received on that Sunday.
            (["Date: x"], sunday, true), (["Date: x"], monday, true), (["Date: x"], saturday, false),
            // A Last-Modified always counts; a malformed one never matches.
            (["Last-Modified: \(saturday)", "Date: \(monday)"], sunday, true),
            (["Last-Modified: \(monday)", "Date: \(saturday)"], sunday, false),
            (["Last-Modified: x", "Date: \(saturday)"], sunday, false),
            (["Last-Modified: 5 Nov 94 8:49:37", "Date: \(monday)"], sunday, true),
        ])
    func dateOfResponse(stored: [String], condition: String, expected: Bool) {
        #expect(isNotModified(["If-Modified-Since: \(condition)"], stored) == expected)
    }

    @Test("A response without any date compares by the time of receipt", .requirement("C09"))
    func noDate() {
        var stored = Sample.stored(received: 10)
        stored.fields[.date] = nil
        func decide(_ seconds: Int64) -> Bool {
            Preconditions(Sample.request("If-Modified-Since: \(Sample.time(seconds))")).isNotModified(stored)
        }
        #expect(!decide(9))
        #expect(decide(10))
    }

    // MARK: Conditional requests

    private func added(_ request: [String], _ tags: String...) -> [String] {
        let request = HTTPRequest(method: .get, request)
        let stored = tags.map { Sample.stored("ETag: \($0)") }
        return Preconditions(request).adding(stored, to: request).headerFields[values: .ifNoneMatch]
    }

    @Test("RFC 9111 §4.3.1: sends the caller's tags first, then the cache's", .requirement("C05", "C01"))
    func adding() {
        #expect(added([], #""a""#) == [#""a""#])
        #expect(added([], #""a""#, #"W/"b""#, #""a""#) == [#""a", W/"b""#])
        #expect(added([#"If-None-Match: "c""#], #""a""#) == [#""c", "a""#])
        #expect(added([#"If-None-Match: "c",W/"a""#, #"if-none-match: "d""#], #""a""#) == [#""c", W/"a", "d", "a""#])
        // Tags that the list already contains, byte for byte, are not added.
        #expect(added([#"If-None-Match: "c","a""#], #""a""#) == [#""c","a""#])
        #expect(added([#"If-None-Match: "c""#]) == [#""c""#])
        #expect(added([]) == [])
        #expect(added(["If-None-Match: c"], "a") == ["c, a"])
        #expect(added([], "") == [])
        #expect(added(["If-None-Match:"], #""a""#) == [#""a""#])
    }

    @Test("Adds nothing to a malformed list, which would change the meaning", .requirement("C05"))
    func addingToMalformed() {
        #expect(added(["If-None-Match: *"], #""a""#) == ["*"])
        #expect(added([#"If-None-Match: "c, d"#], #""a""#) == [#""c, d"#])
        #expect(added([#"If-None-Match: "c""#], "a, b", #""open"#, "*", #""a,b""#) == [#""c", "a,b""#])
        #expect(added(["If-None-Match: \"a"], #""b""#) == ["\"a"])
        #expect(added(["If-None-Match: a"], #""b""#) == [#"a, "b""#])
        #expect(added([], #""b""#) == [#""b""#])
    }

    @Test("Sends bytes that are not UTF-8 unchanged, and keeps all other fields", .requirement("C05"))
    func addingBytes() throws {
        let bytes: [UInt8] = [0x22, 0xE9, 0x22]
        var stored = Sample.stored()
        stored.fields.append(HTTPField(name: .eTag, lenientValue: bytes))
        let request = Sample.request("Accept: a", "If-None-Match: \"c\"", "X: y", "If-Modified-Since: \(Self.sunday)")
        let sent = Preconditions(request).adding([stored], to: request)
        let field = try #require(sent.headerFields[fields: .ifNoneMatch].first)
        #expect(field.withUnsafeBytesOfValue { Array($0) } == Array("\"c\", ".utf8) + bytes)
        #expect(sent.headerFields[values: .accept] == ["a"])
        #expect(sent.headerFields[values: .ifModifiedSince] == [Self.sunday])
        #expect(sent.headerFields.count == 4)
        #expect(Preconditions(sent).isNotModified(stored))
    }

    @Test("With random bytes, added tags are found again, and earlier tags stay", .requirement("P13", "P27"))
    func anyBytes() {
        var generator = SeededGenerator()
        let pieces = ["\"", "\\", ",", " ", "W/", "*", "a", "b", "\"a\"", "\u{0}", "é"]
        func value() -> [UInt8] {
            (0..<Int.random(in: 0...8, using: &generator)).flatMap { _ in
                Array((pieces.randomElement(using: &generator) ?? "").utf8)
            }
        }
        for _ in 0..<4000 {
            var request = Sample.request()
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                request.headerFields.append(HTTPField(name: .ifNoneMatch, lenientValue: value()))
            }
            var stored = Sample.stored()
            stored.fields.append(HTTPField(name: .eTag, lenientValue: value()))
            let before = Preconditions(request)
            let sent = before.adding([stored], to: request)
            let after = Preconditions(sent)
            #expect(after.entityTags.starts(with: before.entityTags), "\(generator)")
            if sent != request {
                #expect(after.entityTags.count == before.entityTags.count + 1, "\(generator)")
                #expect(after.isNotModified(stored), "\(generator)")
            }
        }
    }
}

extension HTTPRequest {
    fileprivate init(method: HTTPRequest.Method, _ lines: [String]) {
        self = Sample.request(method: method)
        headerFields = Sample.fields(lines)
    }
}
