internal import TestSupport

/// RFC 9110 §5.5: a field value is a sequence of bytes, which need not be UTF-8.
@Suite struct FieldBytesTests {
    private static func tagged(_ middle: [UInt8], _ name: HTTPField.Name = .eTag) -> HTTPField {
        HTTPField(name: name, value: Array("\"v".utf8) + middle + Array("\"".utf8))
    }

    private static func stored(_ middle: [UInt8]) -> StoredResponse {
        var response = Sample.stored("Cache-Control: max-age=1000")
        response.fields.append(tagged(middle))
        return response
    }

    private static func request(
        _ field: HTTPField, _ lines: String..., method: HTTPRequest.Method = .get
    ) -> HTTPRequest {
        var request = Sample.request(method: method)
        request.headerFields = Sample.fields(lines)
        request.headerFields.append(field)
        return request
    }

    struct Comparison: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let areEqual: @Sendable ([UInt8], [UInt8]) -> Bool
    }

    static let comparisons = [
        Comparison(testDescription: "RFC 9110 §8.8.3.2, strong") { first, second in
            let other = EntityTag(stored(second).fields)
            return EntityTag(stored(first).fields).map { tag in other.map(tag.isStronglyEqual) ?? false } ?? false
        },
        Comparison(testDescription: "RFC 9110 §8.8.3.2, weak") { first, second in
            let other = EntityTag(stored(second).fields)
            return EntityTag(stored(first).fields).map { tag in other.map(tag.isWeaklyEqual) ?? false } ?? false
        },
        Comparison(testDescription: "RFC 9110 §13.1.2: If-None-Match") { first, second in
            Preconditions(request(tagged(second, .ifNoneMatch))).isNotModified(stored(first))
        },
        Comparison(testDescription: "RFC 9110 §13.1.5: If-Range") { first, second in
            IfRange.permitsRange(
                request(tagged(second, .ifRange), "Range: bytes=0-1"), stored: stored(first).fields,
                responseTime: Sample.time())
        },
        Comparison(testDescription: "RFC 9110 §15.3.7.3: parts") { first, second in
            let validators = [first, second].map { StrongValidator(stored($0).fields, responseTime: Sample.time()) }
            return validators[0] != nil && validators[0] == validators[1]
        },
        Comparison(testDescription: "RFC 9111 §4.3.4: 304") { first, second in
            var exchange = Sample.exchange(status: .notModified, requested: 98, received: 100)
            exchange.reply.headerFields.append(tagged(second))
            let decision = ReplyDecision(
                for: exchange, original: Sample.request(), candidates: [stored(first)], question: .validation(0),
                policy: CachePolicy(), fingerprint: Sample.fingerprint)
            if case .freshen = decision.action { return true }
            return false
        },
        Comparison(testDescription: "RFC 9111 §4.3.5: HEAD") { first, second in
            var exchange = Sample.exchange(status: .ok, to: Sample.request(method: .head), requested: 98, received: 100)
            exchange.reply.headerFields.append(tagged(second))
            let update = HeadUpdate(
                exchange, candidates: [stored(first)], policy: CachePolicy(), fingerprint: Sample.fingerprint)
            return update.updates[0].map { Freshness(of: $0, policy: CachePolicy()).isFresh(at: Sample.time(100)) }
                ?? false
        },
    ]

    @Test("Entity tags that differ in one byte are never equal", .requirement("P27", "P28"), arguments: comparisons)
    func entityTags(_ comparison: Comparison) {
        for byte in UInt8(0x80)...0xFF {
            #expect(comparison.areEqual([byte], [byte]), "\(byte)")
            for other in [byte ^ 1, byte == 0x80 ? 0xFF : byte - 1] {
                #expect(!comparison.areEqual([byte], [other]), "\(byte) \(other)")
            }
            #expect(!comparison.areEqual([byte], Array(String(Unicode.Scalar(byte)).utf8)), "\(byte)")
        }
        #expect(comparison.areEqual(Array("é".utf8), Array("é".utf8)))
        #expect(!comparison.areEqual(Array("\u{E9}".utf8), Array("e\u{301}".utf8)))
    }

    @Test(
        "A tag with bytes repaired by the transport equals no tag, not even itself", .requirement("P27"),
        arguments: comparisons.dropLast(2))
    func repaired(_ comparison: Comparison) {
        for tag in ["\u{FFFD}", "a\u{FFFD}", "\u{FFFD}a", "\u{EF}\u{FFFD}"] {
            #expect(!comparison.areEqual(Array(tag.utf8), Array(tag.utf8)), "\(tag)")
        }
        // Similar bytes that do not encode U+FFFD.
        for bytes in [[0xEF, 0xBF], [0xEF, 0xBF, 0xBE], [0xBF, 0xBD]] as [[UInt8]] {
            #expect(comparison.areEqual(bytes, bytes))
        }
    }

    @Test("A HEAD with a repaired tag confirms nothing, and the cache never sends a repaired tag")
    func repairedIsUseless() throws {
        let head = try #require(Self.comparisons.last)
        #expect(!head.areEqual(Array("\u{FFFD}".utf8), Array("\u{FFFD}".utf8)))
        let response = Self.stored(Array("\u{FFFD}".utf8))
        #expect(response.conditionalRequest(from: Sample.request()) == nil)
        #expect(response.strongValidator?.ifRange == nil)
        #expect(Preconditions(Sample.request()).adding([response], to: Sample.request()) == Sample.request())
    }

    @Test("Conditional requests carry the bytes of the tag", .requirement("P28"))
    func sentBytes() throws {
        for byte in UInt8(0x80)...0xFF {
            let response = Self.stored([byte])
            let expected = [0x22, 0x76, byte, 0x22]
            let conditional = try #require(response.conditionalRequest(from: Sample.request()))
            #expect(conditional.headerFields.first { $0.name == .ifNoneMatch }?.trimmedBytes == expected)
            #expect(response.strongValidator?.ifRange.trimmedBytes == expected)
            let added = Preconditions(Sample.request()).adding([response], to: Sample.request())
            #expect(added.headerFields.first { $0.name == .ifNoneMatch }?.trimmedBytes == expected)
        }
    }

    @Test("RFC 9111 §4.1: values of a nominated field that differ in one byte select different responses")
    func varyKeys() throws {
        let nominates = Sample.fields(["Vary: X, Cookie"])
        func key(_ name: HTTPField.Name, _ value: [UInt8]) throws -> VaryKey {
            try #require(
                VaryKey(
                    response: nominates, request: Self.request(HTTPField(name: name, value: value)),
                    fingerprint: Sample.fingerprint))
        }
        let name = try #require(HTTPField.Name("X"))
        for name in [name, .cookie] {
            let keys = try (UInt8(0x80)...0xFF).map { try key(name, [$0]) } + [key(name, Array("\u{E9}".utf8))]
            #expect(Set(keys).count == keys.count)
        }
    }

    @Test("Reads text as UTF-8, otherwise as one character for each byte")
    func texts() {
        #expect(HTTPField(name: .eTag, value: [0x22, 0xE9, 0x22]).text == "\"é\"")
        #expect(HTTPField(name: .eTag, value: "\"é\"").text == "\"é\"")
        #expect(
            HTTPField(name: .eTag, value: Array(0x80...0xFF)).text.unicodeScalars.map(\.value) == Array(0x80...0xFF))
        #expect(Sample.fields(["ETag: a", "X: b", "etag: c"]).text(of: .eTag) == "a, c")
        #expect(HTTPFields().text(of: .eTag) == nil)
    }
}
