internal import TestSupport

@Suite struct RangeSetTests {
    private func set(_ value: String, method: HTTPRequest.Method = .get) -> RangeSet? {
        RangeSet(Sample.request("Range: \(value)", method: method))
    }

    @Test(
        "The ranges that a whole response answers", .requirement("G04", "G11", "G12"),
        arguments: [
            ("bytes=0-4", 10, .part(bytes(0, 5))),
            ("bytes=0-0", 10, .part(bytes(0, 1))),
            ("bytes=9-9", 10, .part(bytes(9, 10))),
            ("bytes=5-", 10, .part(bytes(5, 10))),
            ("bytes=0-", 10, .part(bytes(0, 10))),
            ("bytes=-3", 10, .part(bytes(7, 10))),
            // last-pos is clamped
            ("bytes=5-10", 10, .part(bytes(5, 10))),
            ("bytes=5-99999999999999999999999999", 10, .part(bytes(5, 10))),
            ("bytes=0-9223372036854775807", 10, .part(bytes(0, 10))),
            ("bytes=0-9223372036854775807", .max, .part(bytes(0, .max))),
            // A suffix longer than the representation.
            ("bytes=-10", 10, .part(bytes(0, 10))),
            ("bytes=-11", 10, .part(bytes(0, 10))),
            ("bytes=-99999999999999999999999999", 10, .part(bytes(0, 10))),
            // Absent
            ("bytes=10-", 10, .unsatisfiable),
            ("bytes=10-20", 10, .unsatisfiable),
            ("bytes=99999999999999999999999999-", 10, .unsatisfiable),
            ("bytes=9223372036854775807-", .max, .unsatisfiable),
            ("bytes=99999999999999999998-99999999999999999999", 10, .unsatisfiable),
            ("bytes=-0", 10, .unsatisfiable),
            ("bytes=-0,20-30", 10, .unsatisfiable),
            // Of an empty representation only a suffix is satisfiable, and no Content-Range can express it.
            ("bytes=0-", 0, .unsatisfiable),
            ("bytes=0-0", 0, .unsatisfiable),
            ("bytes=-0", 0, .unsatisfiable),
            ("bytes=-1", 0, .whole),
            ("bytes=0-0,-1", 0, .whole),
            ("bytes=0-4", -5, .unsatisfiable),
        ] as [(String, Int64, RangeAnswer)])
    func whole(value: String, length: Int64, answer: RangeAnswer) throws {
        #expect(try #require(set(value)).resolved(completeLength: length) == answer)
    }

    @Test(
        "Several ranges", .requirement("G17"),
        arguments: [
            ("bytes=0-1,4-5", .parts([bytes(0, 2), bytes(4, 6)])),
            // In the requested order; adjacent ranges do not overlap.
            ("bytes=-2,0-0", .parts([bytes(8, 10), bytes(0, 1)])),
            ("bytes=0-1,2-3", .parts([bytes(0, 2), bytes(2, 4)])),
            // Unsatisfiable ranges are omitted.
            ("bytes=0-1,10-,4-5", .parts([bytes(0, 2), bytes(4, 6)])),
            ("bytes=2-3,10-20", .part(bytes(2, 4))),
            ("bytes=2-3,-0", .part(bytes(2, 4))),
            // Overlapping, or the whole
            ("bytes=0-4,4-5", .whole),
            ("bytes=0-0,0-0", .whole),
            ("bytes=5-,-5", .whole),
            ("bytes=0-,0-,0-", .whole),
            ("bytes=0-4,5-9", .whole),
            ("bytes=5-9,0-4", .whole),
            ("bytes=0-99999999999999999999,1-99999999999999999999", .whole),
        ] as [(String, RangeAnswer)])
    func several(value: String, answer: RangeAnswer) throws {
        #expect(try #require(set(value)).resolved(completeLength: 10) == answer)
    }

    @Test(
        "Valid Range values", .requirement("G01", "G11", "G13"),
        arguments: [
            "bytes=0-0", "Bytes=0-0", "BYTES=0-0", " bytes=0-0\t", "bytes=00000000000000000000000000-000", "bytes=0-0,",
            "bytes=,0-0", "bytes= ,\t, 0-0 ,, ", "bytes=0-0 , 2-3", "bytes=0-0,2-3", "bytes=0-0,-1", "bytes=5-5,0-",
            "bytes=99999999999999999998-99999999999999999999",
        ])
    func valid(value: String) { #expect(set(value) != nil) }

    @Test(
        "Ignored Range values", .requirement("G01", "G11"),
        arguments: [
            "", "bytes", "bytes=", "bytes= ", "bytes=,", "bytes= , ,", "bytes=-", "bytes=a-b", "bytes=0", "bytes=0-a",
            "bytes=0x0-1", "bytes=+0-1", "bytes=0-+1", "bytes=--1", "bytes=0--1", "bytes=0-1-2", "bytes=0 -1",
            "bytes=0- 1", "bytes= 0-1", "bytes =0-1", "bytes:0-1", "bytes 0-1", "bytes=0-1;2-3", "bytes=0-1 2-3",
            "bytes=\"0-1\"", "bytes=0-1,junk", "bytes=0-1,5-4", "bytes=1-0", "bytes=1-00", "items=0-1", "none=0-1",
            "byte=0-1", "bytess=0-1", "=0-1", "0-1", "bytes=0-1/10", "bytes=*", "bytes=٠-١", "bytes=0-1, bytes=2-3",
            // First > last, both larger than any integer type.
            "bytes=99999999999999999999-99999999999999999998",
            "bytes=99999999999999999999-9223372036854775807",
        ])
    func ignored(value: String) { #expect(set(value) == nil) }

    @Test(
        "Only a GET has ranges", .requirement("G13"),
        arguments: [
            (HTTPRequest.Method.get, true), (.head, false), (.post, false), (.put, false), (.options, false),
        ])
    func methods(method: HTTPRequest.Method, hasRange: Bool) {
        #expect((set("bytes=0-0", method: method) != nil) == hasRange)
    }

    @Test("No Range, or two", .requirement("G13"))
    func lines() {
        #expect(RangeSet(Sample.request()) == nil)
        #expect(RangeSet(Sample.request("Range: bytes=0-1", "Range: bytes=0-1")) == nil)
        #expect(RangeSet(Sample.request("Range: bytes=0-1", "Range:")) == nil)
    }

    @Test("At most as many ranges as the limit", .requirement("G17"))
    func limit() throws {
        func value(_ count: Int) -> String {
            "bytes=" + (0..<count).map { "\($0 * 10)-\($0 * 10)" }.joined(separator: ",")
        }
        let most = try #require(set(value(RangeSet.maxCount)))
        guard case .parts(let parts) = most.resolved(completeLength: 1000) else {
            Issue.record("no parts")
            return
        }
        #expect(parts.count == RangeSet.maxCount)
        #expect(set(value(RangeSet.maxCount + 1)) == nil)
        #expect(set(value(100_000)) == nil)
    }

    @Test(
        "The ranges that a stored part answers", .requirement("G02", "G05", "G10"),
        arguments: [
            ("bytes=20-29", 100, .part(bytes(20, 30))),
            ("bytes=22-25", 100, .part(bytes(22, 26))),
            ("bytes=22-25", nil, .part(bytes(22, 26))),
            ("bytes=20-29", nil, .part(bytes(20, 30))),
            ("bytes=20-21,25-26", nil, .parts([bytes(20, 22), bytes(25, 27)])),
            ("bytes=20-21,25-26", 100, .parts([bytes(20, 22), bytes(25, 27)])),
            // If the part includes the end, open ranges end there.
            ("bytes=25-", 30, .part(bytes(25, 30))),
            ("bytes=-4", 30, .part(bytes(26, 30))),
            ("bytes=25-99", 30, .part(bytes(25, 30))),
            ("bytes=25-99999999999999999999", 30, .part(bytes(25, 30))),
            // Beyond the part, or possibly beyond it
            ("bytes=19-25", 100, nil), ("bytes=25-30", 100, nil), ("bytes=25-30", nil, nil), ("bytes=25-", 100, nil),
            ("bytes=25-", nil, nil), ("bytes=-4", nil, nil), ("bytes=-4", 100, nil), ("bytes=-11", 30, nil),
            ("bytes=0-5", 100, nil), ("bytes=20-21,40-41", 100, nil), ("bytes=20-21,40-41", nil, nil),
            ("bytes=20-21,-1", nil, nil), ("bytes=20-9223372036854775807", nil, nil),
            ("bytes=99999999999999999999-99999999999999999999", nil, nil),
            // Only the origin can answer 416, and overlapping ranges need the whole.
            ("bytes=200-", 100, nil), ("bytes=-0", 100, nil), ("bytes=-0", nil, nil),
            ("bytes=20-25,25-26", 100, nil), ("bytes=20-25,25-26", nil, nil),
            // A part that claims to lie beyond the end answers nothing.
            ("bytes=20-29", 5, nil), ("bytes=0-4", 5, nil), ("bytes=20-29", -1, nil),
        ] as [(String, Int64?, RangeAnswer?)])
    func inside(value: String, length: Int64?, answer: RangeAnswer?) throws {
        #expect(try #require(set(value)).resolved(inside: bytes(20, 30), completeLength: length) == answer)
    }

    @Test("A complete part answers any range inside it", .requirement("G02"))
    func completePart() throws {
        let part = bytes(0, 10)
        #expect(try #require(set("bytes=0-")).resolved(inside: part, completeLength: 10) == .part(part))
        #expect(try #require(set("bytes=-50")).resolved(inside: part, completeLength: 10) == .part(part))
    }
}
