internal import TestSupport

@Suite struct ValidationTests {
    private let lastModified = "Last-Modified: Sat, 05 Nov 1994 08:49:37 GMT"

    /// The fields of the request that validates `response`, in order.
    private func conditions(_ response: StoredResponse, _ request: HTTPRequest = Sample.request()) -> [String]? {
        response.conditionalRequest(from: request)?.headerFields.map(\.description)
    }

    @Test(
        "RFC 9111 §4.3.1: If-None-Match is the stored ETag byte for byte, even if weak or malformed",
        .requirement("C01"),
        arguments: [#""a""#, #"W/"a""#, "a", #"w/"a\""#, #""a, b""#, #""""#, #"""#, "é"])
    func entityTag(tag: String) { #expect(conditions(Sample.stored("ETag: \(tag)")) == ["If-None-Match: \(tag)"]) }

    @Test("RFC 9110 §13.1.2: `*` is not an entity tag; it would confirm any state", .requirement("C01"))
    func anyTag() {
        #expect(conditions(Sample.stored("ETag: *")) == nil)
        #expect(conditions(Sample.stored("ETag: *", lastModified))?.map { $0.prefix(18) } == ["If-Modified-Since:"])
    }

    @Test("RFC 9111 §4.3.1: If-Modified-Since is the stored Last-Modified byte for byte", .requirement("C02"))
    func both() {
        #expect(
            conditions(Sample.stored("ETag: \"a\"", lastModified))
                == ["If-None-Match: \"a\"", "If-Modified-Since: Sat, 05 Nov 1994 08:49:37 GMT"])
        #expect(conditions(Sample.stored(lastModified)) == ["If-Modified-Since: Sat, 05 Nov 1994 08:49:37 GMT"])
        #expect(
            conditions(Sample.stored("Last-Modified: Sat, 5-Nov-94 8:49")) == ["If-Modified-Since: Sat, 5-Nov-94 8:49"])
    }

    @Test("Sends bytes that are not UTF-8 as received", .requirement("C02", "P27"))
    func otherBytes() {
        var response = Sample.stored()
        response.fields.append(HTTPField(name: .eTag, value: [0x22, 0xFF, 0x22]))
        let sent = response.conditionalRequest(from: Sample.request())?.headerFields.first
        #expect(sent?.name == .ifNoneMatch)
        #expect(sent?.withUnsafeBytesOfValue(Array.init) == [0x22, 0xFF, 0x22])
    }

    @Test("RFC 9110 §13.1.3: without Last-Modified, no date is sent", .requirement("C03"))
    func noInvention() {
        #expect(conditions(Sample.stored("ETag: \"a\"")) == ["If-None-Match: \"a\""])
        #expect(conditions(Sample.stored()) == nil)
        #expect(conditions(Sample.stored("ETag:", "Last-Modified: ")) == nil)
    }

    @Test("A response without an intact body is not validated", .requirement("C2"))
    func missingBody() { #expect(conditions(Sample.stored("ETag: \"a\"", lastModified, hasIntactBody: false)) == nil) }

    @Test("Finds validators in any case", .requirement("C1"), arguments: ["etag", "ETag", "Etag", "ETAG"])
    func anyCase(name: String) {
        #expect(conditions(Sample.stored("\(name): \"a\"")) == ["If-None-Match: \"a\""])
        #expect(conditions(Sample.stored("LAST-modified: x")) == ["If-Modified-Since: x"])
    }

    @Test("RFC 9111 §4.3.1: keeps the method, the URI and all other fields of the request", .requirement("C04"))
    func restOfRequest() {
        let request = Sample.request("Accept: a/b", "Cookie: c", method: .head)
        var expected = request
        expected.headerFields[.ifNoneMatch] = "\"a\""
        #expect(Sample.stored("ETag: \"a\"").conditionalRequest(from: request) == expected)
    }
}
