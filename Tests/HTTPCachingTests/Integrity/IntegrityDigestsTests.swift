internal import TestSupport

@Suite("Integrity fields") struct IntegrityDigestsTests {
    /// The lines of `Content-Digest`, with the digests in it, or `nil` without a digest to verify.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let lines: [String]
        let sha256: [UInt8]?
        let sha512: [UInt8]?

        init(_ name: String, _ lines: String..., sha256: [UInt8]? = nil, sha512: [UInt8]? = nil) {
            self.name = name
            self.lines = lines
            self.sha256 = sha256
            self.sha512 = sha512
        }

        var testDescription: String { name }
    }

    private static let abc: [UInt8] = [0x61, 0x62, 0x63]

    @Test(
        "RFC 9530 §2, §3: a Dictionary of Byte Sequences; a malformed field is absent, an unknown algorithm is ignored",
        .requirement("I11"),
        arguments: [
            Case("none"),
            Case("empty", ""),
            Case("SHA-256", "sha-256=:YWJj:", sha256: abc),
            Case("SHA-512", "sha-512=:YWJj:", sha512: abc),
            Case("both", "sha-512=:YQ==:, sha-256=:YWJj:", sha256: abc, sha512: [0x61]),
            Case("two lines", "sha-256=:YWJj:", "sha-512=:YQ==:", sha256: abc, sha512: [0x61]),
            Case("the last of equal keys", "sha-256=:YQ==:, sha-256=:YWJj:", sha256: abc),
            Case("parameters", "sha-256=:YWJj:;a=1", sha256: abc),
            Case("no padding", "sha-256=:YQ:", sha256: [0x61]),
            Case("too much padding, as in RFC 9530 §B.9", "sha-256=:YWJj==:", sha256: abc),
            Case("pad bits", "sha-256=:YR==:", sha256: [0x61]),
            Case("all characters", "sha-256=:+/09AZaz:", sha256: [0xfb, 0xfd, 0x3d, 0x01, 0x96, 0xb3]),
            Case("no byte", "sha-256=::", sha256: []),
            Case("deprecated algorithms", "md5=:YWJj:, sha=:YWJj:, unixsum=:YWJj:, adler=:YWJj:, crc32c=:YWJj:"),
            Case("an unknown algorithm beside a known one", "md5=:YQ==:, sha-256=:YWJj:", sha256: abc),
            Case("a key in upper case", "SHA-256=:YWJj:"),
            Case("a String", "sha-256=\"YWJj\""),
            Case("a Token", "sha-256=YWJj"),
            Case("a Boolean", "sha-256"),
            Case("an inner list", "sha-256=(:YWJj:)"),
            Case("one member of another type", "sha-256=1, sha-512=:YWJj:", sha512: abc),
            Case("not closed", "sha-256=:YWJj"),
            Case("a malformed member after a good one", "sha-256=:YWJj:, sha-512=:*:"),
            Case("one character too many", "sha-256=:YWJjY:"),
            Case("padding inside", "sha-256=:YQ==YQ==:"),
            Case("the syntax of RFC 3230", "SHA-256=YWJj, unixsum=1"),
            Case("a comma at the end", "sha-256=:YWJj:,"),
        ])
    func parsing(_ c: Case) {
        let digests = IntegrityDigests(.content, in: Sample.fields(c.lines.map { "Content-Digest: \($0)" }))
        #expect(digests?.sha256 == c.sha256)
        #expect(digests?.sha512 == c.sha512)
        #expect(IntegrityDigests(.representation, in: Sample.fields(c.lines.map { "Content-Digest: \($0)" })) == nil)
        let other = IntegrityDigests(.representation, in: Sample.fields(c.lines.map { "repr-digest: \($0)" }))
        #expect(other?.sha256 == c.sha256)
        #expect(other?.sha512 == c.sha512)
    }

    @Test("RFC 9530 §6.7: random and long fields are read or ignored, in linear time", .requirement("I11"))
    func hostile() {
        var random = SeededGenerator()
        let pieces = ["sha-256", "sha-512", "=", ":", "YWJj", "=", ",", ";", " ", "(", ")", "\"", "?1", "\t", "é", "+"]
        var readable = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &random)
            var line = (0..<count).flatMap { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)].utf8 }
            if Bool.random(using: &random) { line = Array("sha-256=:".utf8) + line + Array(":".utf8) }
            if !line.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                line[Int.random(in: 0..<line.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            var fields = HTTPFields()
            if let name = HTTPField.Name("Content-Digest") { fields.append(HTTPField(name: name, lenientValue: line)) }
            guard let digests = IntegrityDigests(.content, in: fields) else { continue }
            readable += 1
            // Base64 encodes three bytes as four characters.
            let bytes = (digests.sha256?.count ?? 0) + (digests.sha512?.count ?? 0)
            #expect(bytes * 4 <= line.count * 3, "\(random)")
        }
        #expect(readable > 100, "\(random)")
        let long = String(repeating: "A", count: 1_000_000)
        #expect(IntegrityDigests(.content, in: Sample.fields(["Content-Digest: sha-256=:\(long):"])) == nil)
        let many = (0..<100_000).map { "k\($0)=1" }.joined(separator: ",")
        #expect(IntegrityDigests(.content, in: Sample.fields(["Content-Digest: \(many)"])) == nil)
    }

    /// A reply, and the fields with digests of its content.
    struct Reply: Sendable, CustomTestStringConvertible {
        let name: String
        let method: HTTPRequest.Method
        let status: HTTPResponse.Status
        let isBodyDecoded: Bool
        let isAsked: Bool
        let coding: String?
        let expected: [IntegrityDigests.Field]

        init(
            _ name: String, _ method: HTTPRequest.Method = .get, _ status: Int = 200, decoded: Bool = false,
            asked: Bool = true, coding: String? = nil, expect expected: IntegrityDigests.Field...
        ) {
            self.coding = coding
            self.name = name
            self.method = method
            self.status = .init(code: status)
            isBodyDecoded = decoded
            isAsked = asked
            self.expected = expected
        }

        var testDescription: String { name }
    }

    @Test(
        "RFC 9530 §2, §3: the fields that cover the content of a message",
        arguments: [
            Reply("I16: the policy does not ask", asked: false),
            Reply("I13, I14: 200 to GET", expect: .content, .representation, .unencoded),
            Reply("I13, I14: 404 to GET", .get, 404, expect: .content, .representation, .unencoded),
            Reply("I13, I14: 200 to QUERY", .query, expect: .content, .representation, .unencoded),
            Reply("Unencoded-Digest is not of encoded bytes", coding: "gzip", expect: .content, .representation),
            Reply("Unencoded-Digest: identity", coding: "identity", expect: .content, .representation, .unencoded),
            Reply("I14: 206", .get, 206, expect: .content),
            Reply("I14: 200 to POST", .post, expect: .content),
            Reply("I14: 201 to PUT", .put, 201, expect: .content),
            Reply("I14: 200 to PATCH", .patch, expect: .content),
            Reply("I13: 200 to HEAD", .head),
            Reply("I13: 204", .get, 204),
            Reply("I13: 304", .get, 304),
            Reply("I15: a decoded body", decoded: true, expect: .unencoded),
            Reply("I15: a decoded part", .get, 206, decoded: true),
        ])
    func coverage(_ reply: Reply) {
        let lines = [
            "Content-Digest: sha-256=:YWJj:", "Repr-Digest: sha-512=:YWJj:", "Unencoded-Digest: sha-256=:YWJj:",
        ]
        let fields = Sample.fields(lines + (reply.coding.map { ["Content-Encoding: \($0)"] } ?? []))
        let digests = IntegrityDigests.ofContent(
            HTTPResponse(status: reply.status, headerFields: fields), to: reply.method,
            isBodyDecoded: reply.isBodyDecoded, policy: CachePolicy(verifiesDigests: reply.isAsked))
        #expect(digests.map(\.field) == reply.expected)
    }

    @Test(
        "RFC 9530 §3: only Repr-Digest covers combined parts, if the policy asks", .requirement("I14"),
        arguments: [true, false])
    func whole(isAsked: Bool) {
        let fields = Sample.fields(["Content-Digest: sha-256=:YWJj:", "Repr-Digest: sha-512=:YWJj:"])
        let policy = CachePolicy(verifiesDigests: isAsked)
        let digests = IntegrityDigests.ofWhole(fields, combining: [], policy: policy)
        #expect(digests.map(\.field) == (isAsked ? [.representation] : []))
        // A Content-Digest covers the whole for an interrupted 200, and only the part for a 206.
        let parts = [HTTPResponse.Status.ok, .partialContent].map { status in
            Sample.stored("Content-Digest: sha-256=:YWJj:", status: status)
        }
        let all = IntegrityDigests.ofWhole(fields, combining: parts, policy: policy)
        #expect(all.map(\.field) == (isAsked ? [.content, .representation] : []))
    }

    @Test("RFC 9530 §B.2: a 304 or a HEAD leaves the stored Content-Digest", .requirement("I17"))
    func freshening() throws {
        let stored = Sample.stored("ETag: \"a\"", "Content-Digest: sha-256=:YWJj:", "Repr-Digest: sha-256=:YWJj:")
        var request = Sample.request("If-None-Match: \"a\"")
        let lines = ("ETag: \"a\"", "Content-Digest: sha-256=:bm9uZQ==:", "Repr-Digest: sha-256=:YWJj:, md5=:YQ==:")
        let notModified = Sample.exchange(lines.0, lines.1, lines.2, status: .notModified, to: request)
        request = Sample.request(method: .head)
        let head = Sample.exchange(lines.0, lines.1, lines.2, to: request)
        for decision in [
            Sample.decision(on: notModified, [stored], validated: 0), Sample.decision(on: head, [stored]),
        ] {
            let updated = try #require(decision.updates[0])
            #expect(IntegrityDigests(.content, in: updated.fields)?.sha256 == Self.abc)
            #expect(updated.fields.contains { $0.value.contains("md5") }, "Repr-Digest is metadata like any other")
        }
    }

    @Test(
        "The Repr-Digest of a 304 covers encoded bytes, not those of a decoded body", .requirement("I15"),
        arguments: [true, false])
    func decodedFreshening(isBodyDecoded: Bool) throws {
        let stored = Sample.stored("ETag: \"a\"", isBodyDecoded: isBodyDecoded)
        let request = Sample.request("If-None-Match: \"a\"")
        let notModified = Sample.exchange(
            "ETag: \"a\"", "Repr-Digest: sha-256=:YWJj:", status: .notModified, to: request)
        let updated = try #require(Sample.decision(on: notModified, [stored], validated: 0).updates[0])
        let digests = IntegrityDigests(.representation, in: updated.fields)
        #expect((digests == nil) == isBodyDecoded)
    }

    @Test("RFC 9530 §B.2: the answer to a HEAD has no Content-Digest, that to a GET has", .requirement("I17"))
    func head() {
        let stored = Sample.stored("Content-Digest: sha-256=:YWJj:", "Repr-Digest: sha-256=:YWJj:")
        for (method, names) in [
            (HTTPRequest.Method.head, ["repr-digest"]), (.get, ["content-digest", "repr-digest"]),
        ] {
            let answer = StoredAnswer(from: stored, to: Sample.request(method: method), age: 0, byteCount: 3)
            let digests = answer.head.headerFields.map(\.name.canonicalName).filter { $0.hasSuffix("digest") }
            #expect(digests == names)
        }
    }
}
