import TestSupport

@Suite("OriginReply.resource")
struct OriginConditionalTests {
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    static let later = "Mon, 07 Nov 1994 00:00:00 GMT"

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var fields: HTTPFields
        var method = HTTPRequest.Method.get
        var etag: String? = "\"a\""
        var lastModified: String? = OriginConditionalTests.modified
        var expect: HTTPResponse.Status
    }

    @Test(
        "RFC 9110 §13.2.2",
        arguments: [
            Case(testDescription: "no condition", fields: [:], expect: .ok),
            Case(testDescription: "same tag", fields: [.ifNoneMatch: "\"a\""], expect: .notModified),
            Case(testDescription: "other tag", fields: [.ifNoneMatch: "\"b\""], expect: .ok),
            Case(testDescription: "weak comparison", fields: [.ifNoneMatch: "W/\"a\""], expect: .notModified),
            Case(testDescription: "weak etag", fields: [.ifNoneMatch: "\"a\""], etag: "W/\"a\"", expect: .notModified),
            Case(testDescription: "list", fields: [.ifNoneMatch: "\"x\", W/\"a\" , \"y\""], expect: .notModified),
            Case(
                testDescription: "comma in a tag",
                fields: [.ifNoneMatch: "\"x\", \"a,b\""], etag: "\"a,b\"", expect: .notModified),
            Case(testDescription: "unquoted", fields: [.ifNoneMatch: "a"], expect: .ok),
            Case(testDescription: "unfinished", fields: [.ifNoneMatch: "\"a"], expect: .ok),
            Case(testDescription: "any", fields: [.ifNoneMatch: "*"], expect: .notModified),
            Case(testDescription: "no tag", fields: [.ifNoneMatch: "\"a\""], etag: nil, expect: .ok),
            Case(testDescription: "same date", fields: [.ifModifiedSince: modified], expect: .notModified),
            Case(testDescription: "later date", fields: [.ifModifiedSince: later], expect: .notModified),
            Case(testDescription: "earlier date", fields: [.ifModifiedSince: earlier], expect: .ok),
            Case(testDescription: "no date", fields: [.ifModifiedSince: "soon"], expect: .ok),
            Case(testDescription: "nothing dated", fields: [.ifModifiedSince: later], lastModified: nil, expect: .ok),
            Case(
                testDescription: "the tag has precedence",
                fields: [.ifNoneMatch: "\"b\"", .ifModifiedSince: modified], expect: .ok),
            Case(testDescription: "HEAD", fields: [.ifNoneMatch: "\"a\""], method: .head, expect: .notModified),
            Case(testDescription: "POST", fields: [.ifNoneMatch: "\"a\""], method: .post, expect: .ok),
        ])
    func condition(_ c: Case) {
        let request = OriginRequest(method: c.method, path: "/", fields: c.fields)
        let reply = OriginReply.resource(
            "body".utf8, for: request, etag: c.etag, lastModified: c.lastModified, cacheControl: "max-age=1")
        #expect(reply.status == c.expect)
        #expect(reply.body == (c.expect == .ok ? Array("body".utf8) : []))
        #expect(reply.fields[.eTag] == c.etag)
        #expect(reply.fields[.lastModified] == c.lastModified)
        #expect(reply.fields[.cacheControl] == "max-age=1")
    }
}

@Suite("OriginDate")
struct OriginDateTests {
    @Test(
        "IMF-fixdate, written and parsed",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func both(seconds: Int, text: String) {
        #expect(OriginDate.text(secondsSince1970: seconds) == text)
        #expect(OriginDate.seconds(of: text) == seconds)
    }

    @Test(
        "Other text is not a date",
        arguments: [
            "", "0", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Thu, 30 Feb 2000 00:00:00 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 9223372036854775807 08:49:37 GMT",
        ])
    func other(text: String) {
        #expect(OriginDate.seconds(of: text) == nil)
    }
}
