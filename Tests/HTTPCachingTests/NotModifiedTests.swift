internal import TestSupport

@Suite struct NotModifiedTests {
    private func names(_ lines: String...) -> [String] {
        NotModified.head(of: Sample.fields(lines)).map(\.name.canonicalName)
    }

    @Test("RFC 9110 §15.4.5: a 304 carries the required fields, in order and in their own lines", .requirement("C07"))
    func carried() {
        let lines = [
            "Cache-Control: max-age=60", "Content-Location: /a", "Date: x", "ETag: \"a\"", "Expires: y", "Vary: Accept",
            "Vary: Cookie", "Age: 5", "Link: </b>", "Content-Security-Policy: default-src 'self'", "Set-Cookie: a=b",
            "X-Any: z", "Accept-Ranges: bytes",
        ]
        #expect(NotModified.head(of: Sample.fields(lines)) == Sample.fields(lines))
    }

    @Test(
        "RFC 9110 §15.4.5: a 304 omits other representation metadata", .requirement("C07"),
        arguments: [
            "Content-Length", "Content-Type", "Content-Encoding", "Content-Range", "content-language",
            "Content-Disposition", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest", "Trailer",
            "Transfer-Encoding",
        ])
    func withheld(name: String) { #expect(names("Date: x", "\(name): y", "Age: 0") == ["date", "age"]) }

    @Test("RFC 9110 §15.4.5: a 304 without ETag carries Last-Modified", .requirement("C07"))
    func lastModified() {
        #expect(names("Last-Modified: x", "ETag: \"a\"") == ["etag"])
        #expect(names("Last-Modified: x", "ETag: W/\"a\"") == ["etag"])
        #expect(names("Last-Modified: x", "Date: y") == ["last-modified", "date"])
        #expect(names("Last-Modified: x", "ETag:") == ["last-modified", "etag"])
    }
}
