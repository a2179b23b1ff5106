internal import TestSupport

/// Dates and freshness with another time zone, language, digits and calendar than those of RFC 9110.
@Suite struct LocaleTests {
    // Separate processes: the environment applies to a whole process, which reads it at its first use.
    @Test("RFC 9111 §4.2: time zone and locale influence neither dates nor freshness", .requirement("P20"))
    func arabic() async {
        await #expect(processExitsWith: .success) { LocaleTests.live(zone: "Asia/Kathmandu", locale: "ar_SA.UTF-8") }
    }

    @Test("Apia, which crossed the date line during summer time, and the Buddhist calendar", .requirement("P20"))
    func buddhist() async {
        await #expect(processExitsWith: .success) {
            LocaleTests.live(zone: "Pacific/Apia", locale: "th_TH@calendar=buddhist")
        }
    }

    @Test("Istanbul, where the capital of i has a dot", .requirement("P20"))
    func turkish() async {
        await #expect(processExitsWith: .success) { LocaleTests.live(zone: "Europe/Istanbul", locale: "tr_TR.UTF-8") }
    }

    private static func live(zone: String, locale: String) {
        for name in ["LANG", "LC_ALL", "LC_TIME", "LANGUAGE"] { setenv(name, locale, 1) }
        setenv("TZ", zone, 1)
        tzset()
        setlocale(LC_ALL, "")
        dates()
        names()
        freshness()
    }

    private static func dates() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "SUN, 06 NOV 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
        ] {
            let date = HTTPDate(Sample.field(.expires, text), now: Sample.time())
            precondition(date?.secondsSince1970 == 784_111_777)
            precondition(date?.description == "Sun, 06 Nov 1994 08:49:37 GMT")
            precondition(HTTPDate(lenient: Sample.field(.lastModified, text), now: Sample.time()) == date)
        }
        // More than a year, hour by hour, which includes the skipped and the repeated hours of summer time.
        for minute in stride(from: Int64(0), to: 400 * 24 * 60, by: 61) {
            let date = Sample.time(minute * 60)
            precondition(HTTPDate(Sample.field(.expires, date.description), now: date) == date)
        }
        for text in [
            "Sun, 06 Nov 2537 08:49:37", "الأحد, 06 Nov 1994 08:49:37 GMT", "Sun, \u{660}\u{666} Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 +0545", "Sun, 06 Nov 1994 08:49:37 NPT", "Paz, 06 Kas 1994 08:49:37 GMT",
        ] {
            precondition(HTTPDate(Sample.field(.expires, text), now: Sample.time()) == nil)
        }
    }

    private static func names() {
        let control = CacheControl(
            Sample.fields(["Cache-Control: PRIVATE, IMMUTABLE, MUST-REVALIDATE, STALE-IF-ERROR=10, MAX-AGE=60"]))
        precondition(control.isPrivate && control.isImmutable && control.mustRevalidate)
        precondition(control.staleIfError == .seconds(10) && control.maxAge == .seconds(60))
        let digits = CacheControl(Sample.fields(["Cache-Control: max-age=\u{666}\u{660}"]))
        precondition(digits.maxAge == .malformed)
    }

    private static func freshness() {
        func lifetime(_ lines: String...) -> Int64 {
            var response = Sample.stored()
            response.fields.append(contentsOf: Sample.fields(lines))
            return Freshness(of: response, policy: CachePolicy()).lifetime
        }
        precondition(Sample.stored().fields[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
        precondition(lifetime("Cache-Control: max-age=60") == 60)
        precondition(lifetime("Expires: Sun, 06 Nov 1994 08:50:37 GMT") == 60)
        precondition(lifetime("Expires: Sunday, 06-Nov-94 08:50:37 GMT") == 60)
        precondition(lifetime("Expires: Sun Nov  6 08:50:37 1994") == 60)
        precondition(lifetime("Expires: Sun, 06 Nov 1994 08:48:37 GMT") == 0)
        precondition(lifetime("Last-Modified: Sun, 06 Nov 1994 08:32:57 GMT") == 100)
        let stored = Sample.stored("Expires: Sun, 06 Nov 1994 08:50:37 GMT")
        let freshness = Freshness(of: stored, policy: CachePolicy())
        precondition(freshness.isFresh(at: Sample.time(59)) && !freshness.isFresh(at: Sample.time(60)))
        precondition(freshness.age(at: Sample.time(5)) == 5)
        precondition(CacheStatus.hit(ttl: 1_234_567).member(name: "c") == "c;hit;ttl=1234567")
    }
}
