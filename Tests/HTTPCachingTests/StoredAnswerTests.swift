import TestSupport

@Suite struct StoredAnswerTests {
    private let body = Array("0123456789".utf8)
    private let stored = Sample.stored(
        "Cache-Control: max-age=60", "Content-Length: 10", "Content-Type: text/plain", #"ETag: "v1""#)

    private func answer(
        to request: HTTPRequest, from stored: StoredResponse? = nil, age: Int64? = 5, byteCount: Int64? = nil
    ) -> StoredAnswer {
        StoredAnswer(
            from: stored ?? self.stored, to: request, age: age, byteCount: byteCount ?? Int64(body.count),
            boundarySeed: "seed")
    }

    private func text(_ answer: StoredAnswer) -> String { String(decoding: answer.bytes(of: body), as: UTF8.self) }

    @Test("RFC 9111 §4: a whole answers with the current age; a validated one without")
    func whole() {
        let hit = answer(to: Sample.request())
        #expect(hit.head.status == .ok)
        #expect(hit.head.headerFields[.age] == "5")
        #expect(hit.content == .whole)
        #expect(text(hit) == "0123456789")
        #expect(answer(to: Sample.request(), age: nil).head.headerFields[.age] == nil)
    }

    @Test("RFC 9110 §9.3.2: HEAD gets the same head, and no content")
    func head() {
        let answer = answer(to: Sample.request(method: .head))
        #expect(answer.head == self.answer(to: Sample.request()).head)
        #expect(answer.content == .none)
        #expect(text(answer).isEmpty)
    }

    @Test("RFC 9111 §4.3.2, RFC 9110 §13.2.2: evaluates the caller's condition before its range")
    func condition() {
        let notModified = answer(to: Sample.request(#"If-None-Match: "v1""#, "Range: bytes=0-1"))
        #expect(notModified.head.status == .notModified)
        #expect(notModified.content == .none)
        #expect(notModified.head.headerFields[.age] == "5")
        #expect(notModified.head.headerFields[.contentLength] == nil)
        let modified = answer(to: Sample.request(#"If-None-Match: "v2""#))
        #expect(modified.head.status == .ok)
        #expect(modified.content == .whole)
    }

    @Test("RFC 9110 §15.3.7: one range, several ranges, and an unsatisfiable one")
    func ranges() {
        let one = answer(to: Sample.request("Range: bytes=2-4"))
        #expect(one.head.status == .partialContent)
        #expect(one.content == .segments([.stored(2..<5)]))
        #expect(one.head.headerFields[.contentRange] == "bytes 2-4/10")
        #expect(text(one) == "234")

        let several = answer(to: Sample.request("Range: bytes=0-0, 8-9"))
        #expect(several.head.status == .partialContent)
        #expect(several.head.headerFields[.contentLength] == String(several.bytes(of: body).count))
        #expect(text(several).contains("Content-Range: bytes 8-9/10\r\n\r\n89\r\n"))

        let none = answer(to: Sample.request("Range: bytes=10-"))
        #expect(none.head.status == .rangeNotSatisfiable)
        #expect(none.content == .segments([]))
    }

    @Test("RFC 9110 §14.1.2, §15.3.7: no range of an error, nor of a body whose content coding was removed")
    func ignoredRanges() {
        var error = stored
        error.status = .notFound
        var decoded = stored
        decoded.isBodyDecoded = true
        for stored in [error, decoded] {
            #expect(answer(to: Sample.request("Range: bytes=2-4"), from: stored).content == .whole)
        }
    }

    @Test("RFC 9111 §3.3: the offsets of a stored part count from the first byte of the part")
    func part() {
        var part = stored
        part.part = StoredPart(bytes: 100..<110, completeLength: 200)
        let answer = answer(to: Sample.request("Range: bytes=102-104"), from: part)
        #expect(answer.content == .segments([.stored(2..<5)]))
        #expect(text(answer) == "234")
        #expect(answer.head.headerFields[.contentRange] == "bytes 102-104/200")
    }

    @Test("Without a range, the seed of the boundary is not evaluated")
    func lazySeed() {
        var isEvaluated = false
        func seed() -> String {
            isEvaluated = true
            return ""
        }
        _ = StoredAnswer(from: stored, to: Sample.request(), age: 0, byteCount: 10, boundarySeed: seed())
        #expect(!isEvaluated)
        _ = StoredAnswer(
            from: stored, to: Sample.request("Range: bytes=0-1"), age: 0, byteCount: 10, boundarySeed: seed())
        #expect(isEvaluated)
    }
}
