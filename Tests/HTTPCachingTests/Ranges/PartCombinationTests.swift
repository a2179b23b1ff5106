internal import TestSupport

/// The part from `first` to `end` of a representation of this length.
private func part(_ first: Int64, _ end: Int64, of length: Int64?) -> StoredPart {
    guard let part = StoredPart(bytes: bytes(first, end), completeLength: length) else {
        preconditionFailure("\(first)..<\(end) is not in \(length ?? -1)")
    }
    return part
}

/// A stored 206 with these bytes.
private func partial(
    _ part: StoredPart, _ lines: String..., tag: String = #""a""#, received: Int64 = 0, hasIntactBody: Bool = true,
    isBodyDecoded: Bool = false
) -> PartCombination.Stored {
    var response = Sample.stored(
        status: .partialContent, received: received, hasIntactBody: hasIntactBody, isBodyDecoded: isBodyDecoded)
    response.fields.append(contentsOf: Sample.fields(lines))
    response.fields[.eTag] = tag.isEmpty ? nil : tag
    response.fields[.contentRange] = part.contentRange
    response.fields[.contentLength] = String(part.byteCount)
    return (response, part)
}

/// A complete 200, or one that broke off after `part`.
private func full(
    _ part: StoredPart? = nil, _ lines: String..., tag: String = #""a""#, received: Int64 = 0
) -> PartCombination.Stored {
    var response = Sample.stored(received: received)
    response.fields.append(contentsOf: Sample.fields(lines))
    response.fields[.eTag] = tag.isEmpty ? nil : tag
    response.fields[.contentLength] = part?.completeLength.map(String.init)
    return (response, part)
}

private func combine(_ new: PartCombination.Stored, _ stored: PartCombination.Stored...) -> PartCombination {
    PartCombination(of: new.response, part: new.part ?? part(0, 1, of: nil), with: stored)
}

private func combined(_ new: PartCombination.Stored, _ stored: PartCombination.Stored...) throws -> CombinedPart {
    let combination = PartCombination(of: new.response, part: new.part ?? part(0, 1, of: nil), with: stored)
    guard case .combines(let combined) = combination.action else {
        Issue.record("\(combination.action)")
        throw NotCombined()
    }
    return combined
}

private func piece(_ source: CombinedPart.Source, _ range: Range<Int64>) -> CombinedPart.Piece {
    CombinedPart.Piece(source: source, range: range)
}

private struct NotCombined: Error {}

@Suite struct PartCombinationTests {
    @Test("RFC 9110 §8.4: does not combine parts of two content codings")
    func codings() {
        let gzip = partial(part(0, 10, of: 100), "Content-Encoding: gzip")
        #expect(combine(partial(part(10, 20, of: 100)), gzip).action == .standsAlone)
        #expect(combine(partial(part(10, 20, of: 100), "Content-Encoding: gzip"), gzip).action != .standsAlone)
    }

    @Test("Combines adjacent parts into one, written front to back", .requirement("G06"))
    func union() throws {
        // 0…9 stored, 20…29 stored, 10…19 new
        let result = try combined(
            partial(part(10, 20, of: 100), received: 9), partial(part(20, 30, of: 100)), partial(part(0, 10, of: 100)),
            partial(part(31, 40, of: 100)))
        #expect(result.members == [0, 1])
        #expect(result.union == part(0, 30, of: 100))
        #expect(result.status == .partialContent)
        #expect(result.fields[.contentRange] == "bytes 0-29/100")
        #expect(result.fields[.contentLength] == "30")
        #expect(
            result.pieces == [
                piece(.stored(1), bytes(0, 10)), piece(.new, bytes(10, 20)), piece(.stored(0), bytes(20, 30)),
            ])
    }

    @Test("The bytes of the new part replace stored ones", .requirement("G06"))
    func overlap() throws {
        let result = try combined(
            partial(part(10, 20, of: nil), received: 9), partial(part(5, 25, of: nil)), partial(part(0, 12, of: nil)),
            partial(part(24, 40, of: nil)))
        #expect(result.union == part(0, 40, of: nil))
        #expect(result.fields[.contentRange] == "bytes 0-39/*")
        #expect(
            result.pieces == [
                piece(.stored(1), bytes(0, 10)), piece(.new, bytes(10, 20)),
                piece(.stored(0), bytes(20, 25)), piece(.stored(2), bytes(25, 40)),
            ])
    }

    @Test("A stored part may extend beyond the new part", .requirement("G06"))
    func chain() throws {
        let result = try combined(
            partial(part(0, 10, of: nil), received: 9), partial(part(20, 30, of: nil)), partial(part(10, 20, of: 50)),
            partial(part(30, 50, of: nil)))
        #expect(result.members == [0, 1, 2])
        #expect(result.union == part(0, 50, of: 50))
        #expect(result.status == .ok)
    }

    @Test(
        "Joins parts that overlap or touch", .requirement("G02", "G06"),
        arguments: [
            (0..<10, 2..<8, 0..<10), (0..<10, 0..<10, 0..<10), (0..<10, 9..<20, 0..<20), (0..<10, 10..<20, 0..<20),
            (0..<10, 11..<20, nil), (0..<(.max - 1), (.max - 1)..<(.max), 0..<(.max)),
        ] as [(Range<Int64>, Range<Int64>, Range<Int64>?)])
    func positions(one: Range<Int64>, other: Range<Int64>, union: Range<Int64>?) throws {
        for (new, stored) in [(one, other), (other, one)] {
            let (new, stored) = try (
                #require(StoredPart(bytes: new, completeLength: nil)),
                #require(StoredPart(bytes: stored, completeLength: nil))
            )
            let combination = combine(partial(new), partial(stored))
            guard case .combines(let combined) = combination.action else {
                #expect(combination.action == .standsAlone)
                #expect(union == nil)
                continue
            }
            #expect(combined.union.bytes == union)
        }
    }

    @Test("A union without a gap from the first byte to the last is a 200", .requirement("G08"))
    func complete() throws {
        let result = try combined(
            partial(part(50, 100, of: 100), "X: new", "Content-Digest: sha-256=:bmV3:", received: 9),
            partial(part(0, 50, of: 100), "Y: old", "Age: 7", "Content-Digest: sha-256=:b2xk:"))
        #expect(result.status == .ok)
        #expect(result.union.isComplete)
        #expect(result.fields[.contentRange] == nil)
        #expect(result.fields[.contentLength] == "100")
        // Both digests cover one part.
        #expect(!result.fields.contains { $0.name.canonicalName == "content-digest" })
        #expect(result.fields[.age] == nil)
    }

    @Test("With an unknown length, no union is complete", .requirement("G10"))
    func unknownLength() throws {
        let result = try combined(partial(part(50, 100, of: nil), received: 9), partial(part(0, 50, of: nil)))
        #expect(result.status == .partialContent)
        #expect(result.fields[.contentRange] == "bytes 0-99/*")
    }

    private func values(_ fields: HTTPFields) -> [String?] {
        ["A", "B", "C", "D"].map { name in fields.first { $0.name.rawName == name }?.value }
    }

    @Test("A new 200 that broke off keeps only its own fields", .requirement("G07"))
    func newFull() throws {
        let result = try combined(
            full(part(0, 60, of: 100), "A: new", received: 9), partial(part(50, 80, of: 100), "A: old", "B: old"))
        #expect(values(result.fields) == ["new", nil, nil, nil])
        #expect(result.status == .ok)
        #expect(result.fields[.contentRange] == nil)
        #expect(result.fields[.contentLength] == "100")
        #expect(!result.union.isComplete)
    }

    @Test("RFC 9111 §3.4: a new 206 updates the newest of the stored 200s", .requirement("G07"))
    func storedFull() throws {
        let result = try combined(
            partial(part(60, 80, of: 100), "A: new", received: 9),
            full(part(0, 40, of: 100), "A: 200 old", "B: 200 old", "C: 200 old", received: 1),
            full(part(0, 60, of: 100), "A: 200", "B: 200", received: 2),
            partial(part(60, 70, of: 100), "A: 206", "B: 206", "D: 206", received: 5))
        #expect(values(result.fields) == ["new", "200", nil, nil])
        #expect(result.status == .ok)
        #expect(result.fields[.contentRange] == nil)
        #expect(result.fields[.contentLength] == "100")
    }

    @Test("Of only 206s, the new one updates the newest stored one, except for Content-Range", .requirement("G07"))
    func partsOnly() throws {
        let result = try combined(
            partial(part(20, 30, of: 100), "A: new", "A: new too", "D: new", received: 9),
            partial(part(0, 10, of: 100), "A: older", "B: older", "C: older", received: 1),
            partial(part(10, 20, of: 100), "A: old", "B: old", received: 2))
        #expect(values(result.fields) == ["new", "old", nil, "new"])
        #expect(result.fields.filter { $0.name.rawName == "A" }.map(\.value) == ["new", "new too"])
        #expect(result.fields[.contentRange] == "bytes 0-29/100")
        #expect(result.fields[.date] == Sample.time(9).description)
    }

    @Test("A part of a representation that is stored whole adds nothing", .requirement("G06"))
    func covered() {
        let new = partial(part(0, 10, of: 100), received: 9)
        #expect(combine(new, full()).action == .isCoveredByWhole(0))
        #expect(combine(new, partial(part(10, 20, of: 100)), full()).action == .isCoveredByWhole(1))
        #expect(combine(new, full(part(0, 100, of: 100))).action == .isCoveredByWhole(0))
        #expect(combine(full(part(0, 10, of: 100), received: 9), full()).action == .isCoveredByWhole(0))
    }

    @Test("A part with another strong validator belongs to another representation, and is removed", .requirement("G06"))
    func displaced() throws {
        let new = partial(part(10, 20, of: 100), tag: #""b""#, received: 9)
        let result = combine(new, full(), partial(part(0, 10, of: 100)), partial(part(0, 10, of: 100), tag: #""b""#))
        #expect(result.displaced == [0, 1])
        guard case .combines(let combined) = result.action else {
            Issue.record("\(result.action)")
            return
        }
        #expect(combined.members == [2])
        // A reply can be older than a stored response if it was slower.
        let newer = combine(new, full(received: 10))
        #expect(newer.displaced.isEmpty)
        #expect(newer.action == .standsAlone)
    }

    @Test("Parts that are kept, but not combined", .requirement("G06", "G09", "G16"))
    func standsAlone() {
        let new = partial(part(10, 20, of: 100), received: 9)
        let alone: [(String, PartCombination)] = [
            ("nothing stored", combine(new)),
            ("a gap", combine(new, partial(part(0, 9, of: 100)), partial(part(21, 30, of: 100)))),
            ("stored weak", combine(new, partial(part(0, 10, of: 100), tag: #"W/"a""#), full(tag: #"W/"a""#))),
            ("stored without", combine(new, partial(part(0, 10, of: 100), tag: ""), full(tag: ""))),
            (
                "new weak",
                combine(partial(part(10, 20, of: 100), tag: #"W/"a""#), partial(part(0, 10, of: 100)), full())
            ),
            ("new without", combine(partial(part(10, 20, of: 100), tag: ""), partial(part(0, 10, of: 100)), full())),
            ("a weak pair", combine(partial(part(10, 20, of: 100), tag: #"W/"a""#), full(tag: #"W/"a""#))),
            ("a lost body", combine(new, partial(part(0, 10, of: 100), hasIntactBody: false))),
            ("stored decoded", combine(new, partial(part(0, 10, of: 100), isBodyDecoded: true))),
            (
                "new decoded",
                combine(partial(part(10, 20, of: 100), isBodyDecoded: true), partial(part(0, 10, of: 100)))
            ),
            ("an error", combine(new, (Sample.stored(#"ETag: "b""#, status: .notFound), nil))),
            ("a 206 of which nobody knows what it has", combine(new, (new.response, nil))),
        ]
        for (name, combination) in alone {
            #expect(combination.action == .standsAlone, "\(name)")
            #expect(combination.displaced.isEmpty, "\(name)")
        }
    }

    @Test(
        "Without an entity-tag, a strong date suffices", .requirement("G06"),
        arguments: [(-1, true), (0, false)] as [(Int64, Bool)])
    func dates(seconds: Int64, isCombined: Bool) {
        let line = "Last-Modified: \(Sample.time(seconds))"
        let combination = combine(
            partial(part(10, 20, of: 100), line, tag: "", received: 9), partial(part(0, 10, of: 100), line, tag: ""))
        #expect((combination.action != .standsAlone) == isCombined)
    }

    @Test("Of one validator with two lengths, the newer length stays", .requirement("G09"))
    func contradiction() {
        let new = partial(part(10, 20, of: 100), received: 9)
        let result = combine(
            new, partial(part(0, 10, of: 90)), partial(part(90, 110, of: nil)), full(part(0, 30, of: 30)))
        #expect(result.action == .standsAlone)
        #expect(result.displaced == [0, 1, 2])
    }

    @Test("Hundreds of parts, and offsets up to the maximum", .requirement("G06"))
    func many() throws {
        let stored = (0..<300).map { partial(part(Int64($0) * 2, Int64($0) * 2 + 2, of: nil)) }
        let new = partial(part(600, .max, of: .max), received: 9)
        let result = PartCombination(of: new.response, part: part(600, .max, of: .max), with: stored)
        guard case .combines(let combined) = result.action else {
            Issue.record("\(result.action)")
            return
        }
        #expect(combined.union.isComplete)
        #expect(combined.pieces.count == 301)
        #expect(combined.fields[.contentLength] == String(Int64.max))
    }
}
