internal import TestSupport

/// The lines of a field that names groups, and the groups.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let expected: [String]

    init(_ lines: String..., expect expected: [String]) {
        self.lines = lines
        self.expected = expected
    }

    var testDescription: String { lines.joined(separator: " | ") }
}

private func quoted(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

@Suite struct CacheGroupsTests {
    private func groups(_ lines: [String]) -> [String] {
        CacheGroups(Sample.fields(lines.map { "Cache-Groups: \($0)" })).names
    }

    private func invalidated(_ lines: [String], method: HTTPRequest.Method = .post) -> [String] {
        CacheGroups.invalidated(by: Sample.fields(lines.map { "Cache-Group-Invalidation: \($0)" }), method: method)
    }

    @Test(
        "RFC 9875 §2, §3: both fields are a List of Strings; any other value is ignored", .requirement("W07", "W09"),
        arguments: [
            Case(expect: []),
            Case("", expect: []),
            Case(#""scripts""#, expect: ["scripts"]),
            Case(#""a", "b","c"  ,\#t"d""#, expect: ["a", "b", "c", "d"]),
            Case(#""a", "b""#, #""c""#, expect: ["a", "b", "c"]),
            Case(#""a", "a""#, #""a""#, expect: ["a"]),
            Case(#""A", "a""#, expect: ["A", "a"]),
            Case(#""a";x=1;y, "b";z="c""#, expect: ["a", "b"]),
            Case(#""", " ", "a, b", "a;b""#, expect: ["", " ", "a, b", "a;b"]),
            Case(#""a\"b\\c""#, expect: [#"a"b\c"#]),
            Case("scripts", expect: []),
            Case(#""a", b"#, expect: []),
            Case(#""a", 1"#, expect: []),
            Case(#""a", ("b" "c")"#, expect: []),
            Case(#""a", ?1"#, expect: []),
            Case(#""a","#, expect: []),
            Case(#","a""#, expect: []),
            Case(#""a" "b""#, expect: []),
            Case(#""a"#, expect: []),
            Case(#""é""#, expect: []),
            Case(#""a\x""#, expect: []),
            Case(#""a""#, "b", expect: []),
        ])
    fileprivate func lists(_ example: Case) {
        #expect(groups(example.lines) == example.expected)
        #expect(invalidated(example.lines) == example.expected)
    }

    @Test("RFC 9875 §2: at least 32 groups of at least 32 characters; here 64 of 256", .requirement("W07"))
    func limits() {
        let names = (0..<64).map { String(repeating: "x", count: 254) + String($0 + 10) }
        #expect(groups([quoted(names)]) == names)
        #expect(groups(names.map { quoted([$0]) }) == names)
        // Members beyond the limit are omitted; the rest still counts.
        #expect(groups([quoted(names + ["more"])]) == names)
        #expect(groups([quoted([String(repeating: "y", count: 257), "a"])]) == ["a"])
    }

    @Test("A field of any length is read or ignored, in linear time", .requirement("W07"))
    func hostile() {
        #expect(groups([quoted(Array(repeating: "a", count: 100_000))]).isEmpty)
        #expect(groups([quoted([String(repeating: "a", count: 1_000_000)])]).isEmpty)
        #expect(groups(["\"a\"" + (0..<100_000).map { ";k\($0)" }.joined()]).isEmpty)
        #expect(groups(Array(repeating: "\"a\"", count: 900)) == ["a"])
    }

    @Test("Each field has its own groups", .requirement("W07"))
    func otherField() {
        #expect(CacheGroups(Sample.fields([#"Cache-Group-Invalidation: "a""#])).names.isEmpty)
        #expect(CacheGroups.invalidated(by: Sample.fields([#"Cache-Groups: "a""#]), method: .post).isEmpty)
        #expect(CacheGroups(Sample.fields([#"cache-GROUPS: "a""#])).names == ["a"])
    }

    @Test(
        "RFC 9875 §3: Cache-Group-Invalidation is ignored when the method is safe", .requirement("W09"),
        arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY"])
    func safeMethods(method: String) throws {
        #expect(invalidated([#""a""#], method: try #require(HTTPRequest.Method(method))).isEmpty)
    }

    @Test(
        "RFC 9875 §3: Cache-Group-Invalidation counts when the method is unsafe or unknown", .requirement("W09"),
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get"])
    func unsafeMethods(method: String) throws {
        #expect(invalidated([#""a", "b""#], method: try #require(HTTPRequest.Method(method))) == ["a", "b"])
    }

    @Test("RFC 9875 §2.2.1: a reply does not invalidate its own groups", .requirement("W08"))
    func noCascade() {
        let fields = Sample.fields([#"Cache-Groups: "own""#, #"Cache-Group-Invalidation: "listed""#])
        #expect(CacheGroups.invalidated(by: fields, method: .post) == ["listed"])
    }
}
