internal import TestSupport

@Suite struct StoredResponseTests {
    /// The stored fields of a 200 with these lines, received at 0.
    private func stored(_ lines: String...) -> [String]? { stored(lines) }

    private func stored(_ lines: [String]) -> [String]? {
        var exchange = Sample.exchange()
        exchange.reply.headerFields = Sample.fields(lines)
        guard case .store(let response) = Sample.decide(on: exchange) else { return nil }
        return response.fields.map(\.description)
    }

    private let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

    // MARK: Storing

    @Test("RFC 9111 §3.1: stores every other field, in order, in its own line", .requirement("S11"))
    func allFields() {
        let lines = [
            date, "Set-Cookie: a=1, b", "X-Unknown: y", "Set-Cookie: c=2", "Clear-Site-Data: \"cache\"",
            "Public-Key-Pins: x", "Trailer: z", "WWW-Authenticate: Basic", "Warning: 110 - \"x\"",
        ]
        #expect(stored(lines) == lines)
    }

    @Test("RFC 9110 §7.6.1: does not store fields of the connection", .requirement("S12"))
    func connectionFields() {
        #expect(
            stored(
                date, "Connection: close, X-Hop", "connection: X-OTHER", "Keep-Alive: timeout=5", "Proxy-Connection: x",
                "TE: trailers", "Transfer-Encoding: chunked", "Upgrade: h2c", "X-Hop: 1", "x-other: 2", "X-Stays: 3")
                == [date, "X-Stays: 3"])
    }

    @Test("RFC 9110 §7.6.1: Connection cannot remove fields that decide freshness or selection", .requirement("S12"))
    func connectionOptions() {
        let lines = [date, "Cache-Control: no-cache", "Age: 7", "Expires: 0", "Vary: Accept"]
        #expect(stored(lines + ["Connection: cache-control, age, date, expires, Vary"]) == lines)
    }

    @Test("RFC 9110 §7.6.1: Connection cannot remove fields that describe the stored bytes", .requirement("S12"))
    func connectionOptionsOfContent() {
        let lines = [
            date, "Content-Encoding: gzip", "Content-Type: a/b", "Content-Security-Policy: x", "ETag: \"a\"",
            "Last-Modified: x", "Location: /b", "No-Vary-Search: key-order", "CDN-Cache-Control: no-cache",
            "Repr-Digest: sha-256=:YQ==:",
        ]
        let names = lines.map { $0.prefix { $0 != ":" } }.joined(separator: ", ")
        #expect(stored(lines + ["Connection: \(names), X-Hop", "X-Hop: 1"]) == lines)
    }

    @Test("RFC 9110 §14.4: a stored whole has no Content-Range, and a 304 adds none")
    func contentRange() {
        #expect(stored(date, "Content-Range: bytes 0-3/4", "A: b") == [date, "A: b"])
        var updated = Sample.stored("ETag: \"a\"")
        updated.freshen(by: Sample.exchange("ETag: \"a\"", "Content-Range: bytes 5-9/10", status: .notModified))
        #expect(!updated.fields.contains(.contentRange))
    }

    @Test("A malformed Connection names nothing", .requirement("S12"))
    func malformedConnection() { #expect(stored(date, "Connection: a b, X-Hop", "X-Hop: 1") == [date, "X-Hop: 1"]) }

    @Test("RFC 9111 §3.1: does not store fields of a proxy", .requirement("S13"))
    func proxyFields() {
        #expect(
            stored(date, "Proxy-Authenticate: x", "Proxy-Authentication-Info: y", "Proxy-Authorization: z", "A: b")
                == [date, "A: b"])
    }

    @Test("RFC 9110 §6.6.1: a response without Date gets the time of receipt", .requirement("S16"))
    func missingDate() { #expect(stored("A: b") == ["A: b", date]) }

    @Test(
        "RFC 9110 §6.6.1: an unusable Date becomes the time of receipt", .requirement("S17"),
        arguments: ["", "0", "Sun, 6 Nov 1994 08:49:37 GMT"])
    func unusableDate(value: String) {
        #expect(stored("Date: \(value)", "A: b") == [date, "A: b"])
        #expect(stored("Date: \(value)", "A: b", "Date: x") == [date, "A: b"])
    }

    @Test("A usable Date stays unchanged", .requirement("S16"))
    func usableDate() {
        let asctime = "Date: Sun Nov  6 08:49:30 1994"
        #expect(stored(asctime, "A: b") == [asctime, "A: b"])
    }

    @Test("RFC 9110 §5.5: stores bytes that are not UTF-8 unchanged", .requirement("P28"))
    func otherBytes() {
        let bytes: [UInt8] = Array(0x80...0xFF)
        var exchange = Sample.exchange()
        exchange.reply.headerFields.append(HTTPField(name: .server, value: bytes))
        guard case .store(let response) = Sample.decide(on: exchange),
            let field = response.fields.first(where: { $0.name == .server })
        else {
            Issue.record("not stored")
            return
        }
        #expect(field.withUnsafeBytesOfValue(Array.init) == bytes)
    }

    @Test("The metadata of a stored response")
    func properties() {
        let request = Sample.request("Accept: a/b")
        let exchange = Sample.exchange(
            date, "Vary: Accept", status: .notFound, to: request, requested: 3, received: 5, isBodyDecoded: true)
        #expect(
            Sample.decide(on: exchange)
                == .store(
                    StoredResponse(
                        status: .notFound, fields: Sample.fields([date, "Vary: Accept"]), requestTime: Sample.time(3),
                        responseTime: Sample.time(5), varyKey: VaryKey(text: "accept: a/b"),
                        hasIntactBody: true, isBodyDecoded: true)))
    }

    // MARK: Answering

    @Test("RFC 9111 §4: the Age of a hit is the current age, not the stored Age", .requirement("A01"))
    func ageOfHit() {
        #expect(Sample.stored(date).head(age: 61).headerFields.map(\.description) == [date, "Age: 61"])
        #expect(Sample.stored("Age: 1", date).head(age: 61).headerFields.map(\.description) == ["Age: 61", date])
        #expect(
            Sample.stored("Age: 1", date, "Age: 2").head(age: 0).headerFields.map(\.description) == ["Age: 0", date])
        #expect(Sample.stored(date, status: .notFound).head(age: 1).status == .notFound)
    }

    @Test("After validation the Age is that of the 304, or absent", .requirement("A01"))
    func ageOfValidated() {
        #expect(Sample.stored(date).head(age: nil).headerFields.map(\.description) == [date])
        #expect(Sample.stored("Age: 1", date).head(age: nil).headerFields.map(\.description) == ["Age: 1", date])
    }

    @Test("RFC 9110 §6.6.1: the Date of a stored response stays on a hit", .requirement("A06"))
    func dateOfHit() {
        let response = Sample.stored("Cache-Control: max-age=60")
        #expect(response.head(age: 59).headerFields[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("RFC 9111 §5.2.2.4: omits fields of no-cache=\"…\" unless validated", .requirement("F09"))
    func withheldFields() {
        let response = Sample.stored(
            date, "Cache-Control: max-age=60, no-cache=\"set-cookie, X-Secret, age\"", "Set-Cookie: a", "x-secret: b",
            "Set-Cookie: c", "A: b")
        #expect(
            response.head(age: 1).headerFields.map(\.description)
                == [date, "Cache-Control: max-age=60, no-cache=\"set-cookie, X-Secret, age\"", "A: b", "Age: 1"])
        #expect(response.head(age: nil).headerFields.count == 6)
        #expect(Sample.decide(Sample.request(), response, at: 1) == .hit(0, age: 1, isStale: false))
    }
}
