internal import HTTPCaching
internal import HTTPTypes
internal import Testing

@Suite struct ClearSiteDataTests {
    private func clearsCache(_ lines: [String]) -> Bool {
        ClearSiteData(Sample.fields(lines.map { "Clear-Site-Data: \($0)" })).clearsCache
    }

    @Test(
        "Z03 Clear-Site-Data: \"cache\" or \"*\" among the types",
        arguments: [
            [#""cache""#], [#""*""#], [#""cookies", "cache""#], [#""cookies","*" , "storage""#],
            [#""cookies""#, #""cache""#], [#""unknown, type", "cache""#], [#"\#t"cache" ,"#], [#""a\"b", "cache""#],
        ])
    func clears(lines: [String]) {
        #expect(clearsCache(lines))
    }

    @Test(
        "Z03: other types, and other cases, clear nothing",
        arguments: [
            [], [""], [#""cookies""#], [#""Cache""#], [#""CACHE""#], [#""cache ""#], [#"" cache""#], [#""""#],
            [#""cookies, cache""#], [#""prefetchCache", "executionContexts""#], [#""c\ache""#],
        ])
    func others(lines: [String]) {
        #expect(!clearsCache(lines))
    }

    @Test(
        "Z03: a value that is not a list of quoted strings clears nothing",
        arguments: [
            ["cache"], ["*"], ["'cache'"], [#""cache"#], [#""cache" "cookies""#], [#""cache"; x"#], [#""cache", x"#],
            [#"x, "cache""#], [#""cache""#, "x"], ["x", #""cache""#], [#""cache", "cookies"#], [#"["cache"]"#],
        ])
    func malformed(lines: [String]) {
        #expect(!clearsCache(lines))
    }

    @Test("Z03: bytes that are not UTF-8 are unknown types")
    func bytes() throws {
        let name = try #require(HTTPField.Name("Clear-Site-Data"))
        var fields = HTTPFields()
        fields.append(HTTPField(name: name, lenientValue: [0x22, 0xFF, 0xFE, 0x22]))
        #expect(!ClearSiteData(fields).clearsCache)
        fields.append(HTTPField(name: name, value: #""cache""#))
        #expect(ClearSiteData(fields).clearsCache)
    }
}
