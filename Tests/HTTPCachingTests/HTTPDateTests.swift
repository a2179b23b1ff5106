internal import TestSupport

@Suite struct HTTPDateTests {
    private func strict(_ text: String, now: HTTPDate = Sample.time()) -> Int64? {
        HTTPDate(Sample.field(.expires, text), now: now)?.secondsSince1970
    }

    private func lenient(_ text: String, now: HTTPDate = Sample.time()) -> Int64? {
        HTTPDate(lenient: Sample.field(.lastModified, text), now: now)?.secondsSince1970
    }

    @Test(
        "RFC 9110 §5.6.7: reads all three formats", .requirement("P16"),
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Tue Feb 29 12:00:00 2000", 951_825_600),
            ("Wednesday, 31-Dec-69 23:59:59 GMT", -1),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            ("Tue, 29 Feb 1600 23:59:59 GMT", -11_670_912_001),
            ("Thu, 01 Mar 1900 00:00:00 GMT", -2_203_891_200),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ] as [(String, Int64)])
    func forms(text: String, seconds: Int64) {
        #expect(strict(text) == seconds)
        #expect(lenient(text) == seconds)
    }

    @Test("Ignores whitespace around the value", .requirement("P16"))
    func outerWhitespace() { #expect(strict(" \tSun, 06 Nov 1994 08:49:37 GMT \t") == 784_111_777) }

    /// `now` is 1994-11-06T08:49:37Z plus `offset`.
    @Test(
        "RFC 9110 §5.6.7: a two-digit year more than 50 years ahead belongs to the past century", .requirement("P17"),
        arguments: [
            (0, "Sunday, 06-Nov-44 08:49:37 GMT", 2_362_034_977),
            (0, "Sunday, 06-Nov-44 08:49:38 GMT", -793_725_022),
            (1, "Sunday, 06-Nov-44 08:49:38 GMT", 2_362_034_978),
            (-1, "Sunday, 06-Nov-44 08:49:37 GMT", -793_725_023),
            // The clock shows 2080-01-01.
            (2_687_181_023, "Monday, 05-May-10 05:05:05 GMT", 4_428_709_505),
        ] as [(Int64, String, Int64)])
    func twoDigitYears(offset: Int64, text: String, seconds: Int64) {
        #expect(strict(text, now: Sample.time(offset)) == seconds)
        #expect(lenient(text, now: Sample.time(offset)) == seconds)
    }

    @Test(
        "RFC 9111 §4.2: dates are case-insensitive", .requirement("P18"),
        arguments: [
            "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "sUNDAY, 06-nOV-94 08:49:37 Gmt",
            "SUN NOV  6 08:49:37 1994",
        ])
    func anyCase(text: String) { #expect(strict(text) == 784_111_777) }

    @Test(
        "RFC 9111 §4.2: zones other than GMT are invalid for expiration", .requirement("P19"),
        arguments: ["UTC", "AEST", "+0000", "EST", "Z", "-0000", "+00", "GMT+1", ""])
    func zones(zone: String) {
        #expect(strict("Sun, 06 Nov 1994 08:49:37 \(zone)") == nil)
        #expect(strict("Sunday, 06-Nov-94 08:49:37 \(zone)") == nil)
    }

    @Test("RFC 9111 §4.2: a leap second becomes the second before it", .requirement("P21", "P24"))
    func leapSecond() {
        #expect(strict("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_799)
        #expect(strict("Sat, 31 Dec 2016 23:59:59 GMT") == 1_483_228_799)
        #expect(strict("Sat, 31 Dec 2016 23:59:61 GMT") == nil)
    }

    @Test(
        "Years beyond 32 bits", .requirement("P24"),
        arguments: [
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Sun, 07 Feb 2106 06:28:16 GMT", 4_294_967_296),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)])
    func farYears(text: String, seconds: Int64) { #expect(strict(text) == seconds) }

    @Test(
        "RFC 9111 §5.3: text in none of the three formats is not a date", .requirement("P22"),
        arguments: [
            "0", "-1", "", " ", "Sun 06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
            "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 November 1994 08:49:37 GMT", "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Wed, 29 Feb 1995 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov -994 08:49:37 GMT", "Mon, 29 Feb 2100 08:49:37 GMT", "Funday, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06 Nov 94 08:49:37 GMT", "Sun Nov 06 08:49:37 1994 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT", "1994-11-06T08:49:37Z", "784111777",
        ])
    func noDate(text: String) { #expect(strict(text) == nil) }

    @Test(
        "Decision 2: Last-Modified is parsed leniently",
        arguments: [
            "Sun, 6 Nov 1994 8:49:37 GMT", "Sun,  06  Nov 1994   08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
            "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 Z", "Sunday, 06 November 1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 GMT 1994", "Sun, Nov 06 08:49:37 1994", "Sun 06 Nov 94 08:49:37",
            "6-nov-94 8:49:37 gmt",
        ])
    func lenientForms(text: String) {
        #expect(lenient(text) == 784_111_777)
        #expect(strict(text) == nil)
    }

    @Test("Decision 2: seconds may be missing in a lenient date")
    func lenientWithoutSeconds() { #expect(lenient("Sun, 06 Nov 1994 08:49 GMT") == 784_111_740) }

    @Test(
        "Decision 2: an ambiguous date is not a date",
        arguments: [
            "0", "", "1994", "08:49:37", "06 Nov 1994", "Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 EST",
            "Sun, 06 Nov 1994 08:49:37 +0100", "31 Nov 1994 08:49:37", "06 11 1994 08:49:37", "06 Nov 1994 25:00:00",
            "06 Nov 1994 08:49:37 08:49:38", "06 Nov Dec 1994 08:49:37", "06 07 08 Nov 08:49:37", "06 Nov 199 08:49:37",
            "Sun Mon 06 Nov 1994 08:49:37", "06 Nov 1994 8:49:37:00", "06 Nov 1994 008:49:37", "06 Nov 1994 :49:37",
            "06 Nov 1994 08:49:37 GMT UTC", "06 Nov 1994 08:4x:37", "06 Nov 1994 08:49:3x", "06 Nov 19940 08:49:37",
        ])
    func unclear(text: String) { #expect(lenient(text) == nil) }

    @Test("Rejects a long lenient date")
    func longLenientDate() {
        let spaces = String(repeating: " ", count: 40)
        #expect(lenient("Sun, 06 Nov 1994 \(spaces)08:49:37") == nil)
    }

    @Test(
        "RFC 9110 §5.6.7: writes dates as IMF-fixdate",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (253_402_300_800, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ] as [(Int64, String)])
    func writing(seconds: Int64, text: String) { #expect(HTTPDate(secondsSince1970: seconds).description == text) }

    @Test("Reads written dates back")
    func roundTrip() {
        var generator = SeededGenerator()
        for _ in 0..<2000 {
            let date = HTTPDate(secondsSince1970: .random(in: -62_167_219_200...253_402_300_799, using: &generator))
            #expect(strict(date.description) == date.secondsSince1970, "\(generator)")
        }
    }

    @Test("RFC 9111 §1.2.2: arithmetic saturates", .requirement("P09"))
    func saturation() {
        let last = HTTPDate(secondsSince1970: .max)
        #expect(last.advanced(by: 1) == last)
        #expect(HTTPDate.distantPast.advanced(by: -1) == .distantPast)
        #expect(last.seconds(since: .distantPast) == .max)
        #expect(HTTPDate.distantPast.seconds(since: last) == .min)
        #expect(Sample.time(5).seconds(since: Sample.time(2)) == 3)
        #expect(Sample.time(2) < Sample.time(5))
    }
}
