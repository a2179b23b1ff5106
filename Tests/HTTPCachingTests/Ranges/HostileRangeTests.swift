internal import TestSupport

@Suite struct HostileRangeTests {
    private static let rounds = Repetitions.count(200_000, debug: 20_000)
    private static let pieces = [
        "bytes", "Bytes", "items", "=", "-", "-", "-", ",", ", ", " ", "\t", "/", "*", "0", "1", "5", "9", "10", "99",
        "00", "9223372036854775806", "9223372036854775807", "9223372036854775808", "99999999999999999999999", "W/",
        "\"",
        "a", "\"a\"", "+", "\u{0}", "é", "Sun, 06 Nov 1994 08:49:36 GMT", "0-4", "5-9", "-3", "7-",
    ].map { Array($0.utf8) }

    /// A valid prefix, so that parsers get far, and random pieces; sometimes with a changed byte.
    private func field(
        _ name: HTTPField.Name, after beginning: String, _ generator: inout SeededGenerator
    ) -> HTTPField {
        var value = Int.random(in: 0..<8, using: &generator) == 0 ? [] : Array(beginning.utf8)
        for _ in 0..<Int.random(in: 0...9, using: &generator) {
            value += Self.pieces.randomElement(using: &generator) ?? []
        }
        if !value.isEmpty, Int.random(in: 0..<8, using: &generator) == 0 {
            value[.random(in: value.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
        }
        return HTTPField(name: name, lenientValue: value)
    }

    /// Whether these bytes lie within a whole of this length.
    private func isInside(_ answer: RangeAnswer, _ length: Int64) -> Bool {
        switch answer {
        case .part(let range): return StoredPart(bytes: range, completeLength: length) != nil
        case .parts(let ranges):
            return ranges.count > 1 && ranges.allSatisfy { StoredPart(bytes: $0, completeLength: length) != nil }
        case .unsatisfiable, .whole: return true
        }
    }

    @Test("Random Range values never trap or reach beyond the representation", .requirement("G02", "G11", "G17"))
    func ranges() {
        var generator = SeededGenerator()
        let lengths: [Int64] = [.min, -1, 0, 1, 10, 100, .max - 1, .max]
        var request = Sample.request()
        var understood = 0
        for _ in 0..<Self.rounds {
            request.headerFields = HTTPFields([field(.range, after: "bytes=", &generator)])
            guard let set = RangeSet(request) else { continue }
            understood += 1
            let length = lengths.randomElement(using: &generator) ?? 0
            let answer = set.resolved(completeLength: length)
            #expect(isInside(answer, length), "\(generator)")
            let first = Int64.random(in: 0...20, using: &generator)
            let stored = bytes(first, Bool.random(using: &generator) ? .max : first + 5)
            let known = Bool.random(using: &generator) ? length : nil
            if let inside = set.resolved(inside: stored, completeLength: known) {
                #expect(isInside(inside, known ?? .max), "\(generator)")
                let ranges: [Range<Int64>]
                switch inside {
                case .part(let range): ranges = [range]
                case .parts(let parts): ranges = parts
                case .unsatisfiable, .whole: ranges = []
                }
                #expect(!ranges.isEmpty, "\(generator)")
                #expect(ranges.allSatisfy { $0.clamped(to: stored) == $0 }, "\(generator)")
            }
        }
        #expect(understood > Self.rounds / 200, "\(generator)")
    }

    @Test("Random Content-Range values never trap; read values keep their meaning when written", .requirement("G09"))
    func contentRanges() {
        var generator = SeededGenerator()
        var understood = 0
        for _ in 0..<Self.rounds {
            let beginning = ["bytes ", "bytes 0-", "bytes 5-9/", "bytes 0-0/"].randomElement(using: &generator) ?? ""
            let read = StoredPart(contentRange: HTTPFields([field(.contentRange, after: beginning, &generator)]))
            guard let read else { continue }
            understood += 1
            #expect(read.bytes.lowerBound >= 0, "\(generator)")
            #expect(!read.bytes.isEmpty, "\(generator)")
            #expect(read.bytes.upperBound <= read.completeLength ?? .max, "\(generator)")
            #expect(StoredPart(contentRange: [.contentRange: read.contentRange]) == read, "\(generator)")
        }
        #expect(understood > Self.rounds / 200, "\(generator)")
    }

    @Test("Random If-Range values never trap, and a weak validator permits nothing", .requirement("G14", "G15"))
    func ifRanges() {
        var generator = SeededGenerator()
        var request = Sample.request()
        for _ in 0..<Self.rounds {
            request.headerFields = HTTPFields([field(.ifRange, after: "\"", &generator)])
            let validator = field(Bool.random(using: &generator) ? .eTag : .lastModified, after: "\"a\"", &generator)
            let fields = HTTPFields([validator, HTTPField(name: .date, value: Sample.time().description)])
            let isPermitted = IfRange.permitsRange(request, stored: fields, responseTime: Sample.time())
            let asked = request.headerFields.first?.withUnsafeBytesOfValue { $0.starts(with: "W/".utf8) } ?? false
            #expect(!(isPermitted && asked), "\(generator)")
            if let sent = StrongValidator(fields, responseTime: Sample.time())?.ifRange {
                request.headerFields = HTTPFields([sent])
                // The cache accepts every If-Range that it sends.
                #expect(IfRange.permitsRange(request, stored: fields, responseTime: Sample.time()), "\(generator)")
            }
        }
    }
}
