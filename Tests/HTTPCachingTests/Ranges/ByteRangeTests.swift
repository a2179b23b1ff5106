internal import HTTPCaching
internal import Testing

/// The bytes from `first` to `end`, which must be some.
func bytes(_ first: Int64, _ end: Int64) -> ByteRange {
    guard let range = ByteRange(first: first, end: end) else { preconditionFailure("no bytes in \(first)..<\(end)") }
    return range
}

@Suite struct ByteRangeTests {
    @Test(
        "G09, G11: a range has a byte and no negative offset",
        arguments: [
            (0, 1, true), (5, 9, true), (.max - 1, .max, true), (0, .max, true),
            (0, 0, false), (5, 5, false), (6, 5, false), (-1, 5, false), (.min, .max, false), (.min, .min, false),
        ] as [(Int64, Int64, Bool)])
    func creation(first: Int64, end: Int64, isRange: Bool) throws {
        let range = ByteRange(first: first, end: end)
        #expect((range != nil) == isRange)
        guard let range else { return }
        #expect(range.last == end - 1)
        #expect(range.count == end - first)
    }

    struct Pair: Sendable {
        var one: ByteRange
        var other: ByteRange
        var contains = false
        var overlaps = false
        var isAdjacent = false
        var union: ByteRange?
        var intersection: ByteRange?
    }

    @Test(
        "G02, G06: how two ranges lie",
        arguments: [
            Pair(
                one: bytes(0, 10), other: bytes(2, 8), contains: true, overlaps: true, union: bytes(0, 10),
                intersection: bytes(2, 8)),
            Pair(
                one: bytes(0, 10), other: bytes(0, 10), contains: true, overlaps: true, union: bytes(0, 10),
                intersection: bytes(0, 10)),
            Pair(
                one: bytes(0, 10), other: bytes(9, 20), overlaps: true, union: bytes(0, 20), intersection: bytes(9, 10)),
            Pair(one: bytes(0, 10), other: bytes(10, 20), isAdjacent: true, union: bytes(0, 20)),
            Pair(one: bytes(0, 10), other: bytes(11, 20)),
            Pair(one: bytes(0, .max - 1), other: bytes(.max - 1, .max), isAdjacent: true, union: bytes(0, .max)),
        ])
    func pairs(_ pair: Pair) {
        #expect(pair.one.contains(pair.other) == pair.contains)
        for (one, other) in [(pair.one, pair.other), (pair.other, pair.one)] {
            #expect(one.overlaps(other) == pair.overlaps)
            #expect(one.isAdjacent(to: other) == pair.isAdjacent)
            #expect(one.union(other) == pair.union)
            #expect(one.intersection(other) == pair.intersection)
        }
    }

    @Test("G06: ranges sort by where they begin, then by where they end")
    func order() {
        #expect([bytes(5, 6), bytes(0, 9), bytes(0, 2)].sorted() == [bytes(0, 2), bytes(0, 9), bytes(5, 6)])
    }
}
