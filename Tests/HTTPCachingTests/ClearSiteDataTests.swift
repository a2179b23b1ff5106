internal import TestSupport

@Suite struct ClearSiteDataTests {
    private func clearsCache(_ lines: [String]) -> Bool {
        ClearSiteData(Sample.fields(lines.map { "Clear-Site-Data: \($0)" })).clearsCache
    }

    @Test(
        "Clear-Site-Data: \"cache\" or \"*\" among the types", .requirement("Z03"),
        arguments: [
            [#""cache""#], [#""*""#], [#""cookies", "cache""#], [#""cookies","*" , "storage""#],
            [#""cookies""#, #""cache""#], [#""unknown, type", "cache""#], [#"\#t"cache" ,"#], [#""a\"b", "cache""#],
        ])
    func clears(lines: [String]) { #expect(clearsCache(lines)) }

    @Test(
        "Other types, and other cases, clear nothing", .requirement("Z03"),
        arguments: [
            [], [""], [#""cookies""#], [#""Cache""#], [#""CACHE""#], [#""cache ""#], [#"" cache""#], [#""""#],
            [#""cookies, cache""#], [#""prefetchCache", "executionContexts""#], [#""c\ache""#],
        ])
    func others(lines: [String]) {
        #expect(!clearsCache(lines))
    }

    @Test(
        "A value that is not a list of quoted strings clears nothing", .requirement("Z03"),
        arguments: [
            ["cache"], ["*"], ["'cache'"], [#""cache"#], [#""cache" "cookies""#], [#""cache"; x"#], [#""cache", x"#],
            [#"x, "cache""#], [#""cache""#, "x"], ["x", #""cache""#], [#""cache", "cookies"#], [#"["cache"]"#],
        ])
    func malformed(lines: [String]) {
        #expect(!clearsCache(lines))
    }

    @Test("Bytes that are not UTF-8 are unknown types", .requirement("Z03"))
    func bytes() throws {
        let name = try #require(HTTPField.Name("Clear-Site-Data"))
        var fields = HTTPFields()
        fields.append(HTTPField(name: name, lenientValue: [0x22, 0xFF, 0xFE, 0x22]))
        #expect(!ClearSiteData(fields).clearsCache)
        fields.append(HTTPField(name: name, value: #""cache""#))
        #expect(ClearSiteData(fields).clearsCache)
    }
}
