internal import TestSupport

private let earlier = Sample.time(-60).description

@Suite struct ResumeRequestTests {
    private let part = StoredPart(bytes: bytes(0, 40), completeLength: 100)

    private func stored(
        _ lines: String..., status: HTTPResponse.Status = .ok, hasIntactBody: Bool = true, isBodyDecoded: Bool = false
    ) -> StoredResponse {
        var stored = Sample.stored(status: status, hasIntactBody: hasIntactBody, isBodyDecoded: isBodyDecoded)
        stored.fields.append(contentsOf: Sample.fields(lines))
        return stored
    }

    @Test("Asks for the rest by its first byte and the strong validator", .requirement("G15", "G18"))
    func make() throws {
        let part = try #require(part)
        let request = Sample.request("Accept: */*")
        let tagged = try #require(ResumeRequest.make(for: request, resuming: stored(#"ETag: "a""#), part: part))
        #expect(tagged.headerFields == Sample.fields(["Accept: */*", "Range: bytes=40-", #"If-Range: "a""#]))
        let dated = try #require(
            ResumeRequest.make(
                for: request, resuming: stored("Last-Modified: \(earlier)", status: .partialContent), part: part))
        #expect(dated.headerFields[.ifRange] == earlier)
    }

    @Test("Resumes a part of unknown length, but not a complete one", .requirement("G10", "G15"))
    func lengths() throws {
        func isResumed(_ range: Range<Int64>, of length: Int64?) throws -> Bool {
            let part = try #require(StoredPart(bytes: range, completeLength: length))
            return ResumeRequest.make(for: Sample.request(), resuming: stored(#"ETag: "a""#), part: part) != nil
        }
        #expect(try isResumed(bytes(0, 40), of: nil))
        #expect(try isResumed(bytes(0, .max), of: nil))
        #expect(try !isResumed(bytes(0, 40), of: 40))
        #expect(try !isResumed(bytes(1, 40), of: 100))
    }

    @Test("Responses that cannot be resumed", .requirement("G15", "G16"))
    func impossible() throws {
        let part = try #require(part)
        let good = stored(#"ETag: "a""#)
        let requests = [
            Sample.request(method: .head), Sample.request(method: .post), Sample.request("Range: bytes=0-1"),
            Sample.request(#"If-None-Match: "a""#), Sample.request("If-Modified-Since: \(earlier)"),
            Sample.request(#"If-Match: "a""#), Sample.request("If-Unmodified-Since: \(earlier)"),
            Sample.request(#"If-Range: "a""#), Sample.request("Range: junk"),
        ]
        for request in requests {
            #expect(ResumeRequest.make(for: request, resuming: good, part: part) == nil, "\(request)")
        }
        let others = [
            stored(), stored(#"ETag: W/"a""#), stored(#"ETag: W/"a""#, "Last-Modified: \(earlier)"),
            stored("Last-Modified: \(Sample.time())"), stored(#"ETag: "a""#, hasIntactBody: false),
            stored(#"ETag: "a""#, isBodyDecoded: true), stored(#"ETag: "a""#, status: .notFound),
        ]
        for stored in others {
            #expect(ResumeRequest.make(for: Sample.request(), resuming: stored, part: part) == nil, "\(stored)")
        }
    }

    private func outcome(
        _ status: HTTPResponse.Status, _ lines: String..., to validator: String = #"ETag: "a""#,
        of length: Int64? = 100,
        isBodyDecoded: Bool = false
    ) throws -> ResumeRequest.Outcome {
        let part = try #require(StoredPart(bytes: bytes(0, 40), completeLength: length))
        var exchange = Sample.exchange(status: status, isBodyDecoded: isBodyDecoded)
        exchange.reply.headerFields = Sample.fields(lines)
        return ResumeRequest.outcome(of: exchange, resuming: stored(validator), part: part)
    }

    @Test("Under an entity-tag, the replies that continue the part, and those that do not", .requirement("G18"))
    func tags() throws {
        let tag = #"ETag: "a""#
        #expect(try outcome(.partialContent, tag, "Content-Range: bytes 40-99/100") == .continues(completeLength: 100))
        #expect(
            try outcome(.partialContent, tag, "Content-Range: bytes 40-99/100", of: nil)
                == .continues(completeLength: 100))
        #expect(try outcome(.partialContent, tag, "Content-Range: bytes 40-99/*") == .continues(completeLength: 100))
        let discarded = [
            // Another representation, or possibly another
            [#"ETag: "b""#, "Content-Range: bytes 40-99/100"], [#"ETag: W/"a""#, "Content-Range: bytes 40-99/100"],
            ["Content-Range: bytes 40-99/100"], ["Last-Modified: \(earlier)", "Content-Range: bytes 40-99/100"],
            // Another offset
            [tag, "Content-Range: bytes 39-99/100"], [tag, "Content-Range: bytes 41-99/100"],
            [tag, "Content-Range: bytes 0-99/100"], [tag, "Content-Range: bytes 40-98/100"],
            [tag, "Content-Range: bytes 40-98/*"], [tag, "Content-Range: bytes 40-100/*"],
            // Another length
            [tag, "Content-Range: bytes 40-99/101"], [tag, "Content-Range: bytes 40-100/101"],
            // No Content-Range
            [tag], [tag, "Content-Range: bytes */100"], [tag, "Content-Range: items 40-99/100"],
            [tag, "Content-Range: bytes 40-99/100", "Content-Range: bytes 40-99/100"],
            [tag, "Content-Type: multipart/byteranges; boundary=x"],
        ]
        for lines in discarded {
            var exchange = Sample.exchange(status: .partialContent)
            exchange.reply.headerFields = Sample.fields(lines)
            let part = try #require(part)
            #expect(ResumeRequest.outcome(of: exchange, resuming: stored(tag), part: part) == .discards, "\(lines)")
        }
        // If neither response has a length, the part may remain incomplete.
        #expect(try outcome(.partialContent, tag, "Content-Range: bytes 40-99/*", of: nil) == .discards)
        #expect(try outcome(.partialContent, tag, "Content-Range: bytes 40-99/100", isBodyDecoded: true) == .discards)
    }

    @Test(
        "Under a date, a 206 may omit the date, but must not have another", .requirement("G18"),
        arguments: [
            ([], true), (["Last-Modified: \(earlier)"], true), (["Last-Modified: \(Sample.time(-59))"], false),
            (["Last-Modified: \(earlier)", #"ETag: "a""#], false), ([#"ETag: "a""#], false),
        ] as [([String], Bool)])
    func dates(lines: [String], continues: Bool) throws {
        let part = try #require(part)
        var exchange = Sample.exchange(status: .partialContent)
        exchange.reply.headerFields = Sample.fields(["Content-Range: bytes 40-99/100"] + lines)
        let outcome = ResumeRequest.outcome(of: exchange, resuming: stored("Last-Modified: \(earlier)"), part: part)
        #expect(outcome == (continues ? .continues(completeLength: 100) : .discards))
    }

    @Test(
        "The other statuses", .requirement("G18"),
        arguments: [
            (.ok, .replaces), (.rangeNotSatisfiable, .discards), (.notModified, .discards),
            (.notFound, .answersOtherwise), (.serviceUnavailable, .answersOtherwise), (.found, .answersOtherwise),
        ] as [(HTTPResponse.Status, ResumeRequest.Outcome)])
    func statuses(status: HTTPResponse.Status, expected: ResumeRequest.Outcome) throws {
        #expect(try outcome(status, #"ETag: "a""#) == expected)
    }

    @Test("RFC 9110 §14.4: a 200 with Content-Range is a part with a wrong status")
    func mislabelled() throws {
        #expect(try outcome(.ok, #"ETag: "a""#, "Content-Range: bytes 40-99/100") == .discards)
    }

    @Test("A 200 that is shorter than the representation of its tag is a part with a wrong status", .requirement("G18"))
    func short() throws {
        let (tag, other) = (#"ETag: "a""#, #"ETag: "b""#)
        #expect(try outcome(.ok, tag, "Content-Length: 60") == .discards)
        #expect(try outcome(.ok, tag, "Content-Length: 100") == .replaces)
        #expect(try outcome(.ok, tag) == .replaces)
        // Another representation, or one of another length, may be shorter.
        #expect(try outcome(.ok, other, "Content-Length: 60") == .replaces)
        #expect(try outcome(.ok, "Content-Length: 60") == .replaces)
        #expect(try outcome(.ok, tag, "Content-Length: 60", of: nil) == .replaces)
        #expect(try outcome(.ok, tag, "Content-Length: 60", "Content-Encoding: gzip") == .replaces)
    }

    @Test(
        "RFC 9110 §8.4: bytes of another content coding do not continue a part",
        arguments: [
            ("gzip", "gzip", true), ("gzip", "GZIP", true), ("gzip, br", "gzip,br", true), ("identity", "", true),
            ("", "gzip", false), ("gzip", "", false), ("gzip", "br", false), ("gzip, br", "br, gzip", false),
        ])
    func codings(stored: String, reply: String, continues: Bool) throws {
        func lines(_ coding: String) -> [String] { coding.isEmpty ? [] : ["Content-Encoding: \(coding)"] }
        let part = try #require(part)
        var response = self.stored(#"ETag: "a""#)
        response.fields.append(contentsOf: Sample.fields(lines(stored)))
        var exchange = Sample.exchange(#"ETag: "a""#, "Content-Range: bytes 40-99/100", status: .partialContent)
        exchange.reply.headerFields += Sample.fields(lines(reply))
        let outcome = ResumeRequest.outcome(of: exchange, resuming: response, part: part)
        #expect(outcome == (continues ? .continues(completeLength: 100) : .discards))
    }
}
