import TestSupport

@Suite("Retry-After") struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private let now = HTTPDate(secondsSince1970: 784_111_777)

    @Test(
        "RFC 9110 §10.2.3: seconds, or a date", .requirement("H7"),
        arguments: [
            ("0", Duration.zero), ("120", .seconds(120)), (" 120 ", .seconds(120)),
            ("99999999999999999999999", .seconds(2_147_483_648)), ("Sun, 06 Nov 1994 08:51:37 GMT", .seconds(120)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Sun, 06 Nov 1994 08:00:00 GMT", .zero),
            ("Sunday, 06-Nov-94 08:49:38 GMT", .seconds(1)), ("Sun Nov  6 08:49:47 1994", .seconds(10)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(2_147_483_648)),
        ])
    func values(text: String, pause: Duration) {
        let fields: HTTPFields = [.retryAfter: text]
        #expect(fields.retryAfter(at: now) == pause)
    }

    @Test(
        "A malformed value counts as absent", .requirement("H7"),
        arguments: ["", "-1", "1.5", "soon", "1 2", "0x10", "Sun, 40 Nov 1994", "１２"])
    func malformed(text: String) {
        let fields: HTTPFields = [.retryAfter: text]
        #expect(fields.retryAfter(at: now) == nil)
    }

    @Test("The first of several values counts; without any, no pause", .requirement("H7"))
    func several() {
        var fields = HTTPFields()
        #expect(fields.retryAfter(at: now) == nil)
        fields.append(HTTPField(name: .retryAfter, value: "7"))
        fields.append(HTTPField(name: .retryAfter, value: "9"))
        #expect(fields.retryAfter(at: now) == .seconds(7))
    }
}
