internal import TestSupport

@Suite struct TargetedCacheControlTests {
    private static func maxAge(_ lines: [String], _ names: [String]) -> DeltaSeconds? {
        CacheControl(targeted: Sample.fields(lines), names: names)?.maxAge
    }

    private func check(_ example: ControlCase) {
        #expect(CacheControl(targeted: example.fields("X"), names: ["x"]) == example.expected)
    }

    @Test(
        "RFC 9213 §2.2: fields outside the target list have no effect", .requirement("W04"),
        arguments: [[], ["my-cache-control"]])
    func notTargeted(names: [String]) {
        let lines = ["CDN-Cache-Control: max-age=1", "Surrogate-Control: max-age=2", "Cache-Control: max-age=3"]
        #expect(CacheControl(targeted: Sample.fields(lines), names: names) == nil)
        #expect(CacheControl(Sample.fields(lines)).maxAge == .seconds(3))
    }

    @Test("RFC 9213 §2.2: only the first valid field of the list counts, in any order", .requirement("W05"))
    func order() {
        let lines = ["CDN-Cache-Control: max-age=1", "My-Cache-Control: max-age=2", "Cache-Control: no-store"]
        #expect(Self.maxAge(lines, ["My-Cache-Control", "CDN-Cache-Control"]) == .seconds(2))
        #expect(Self.maxAge(lines, ["CDN-Cache-Control", "My-Cache-Control"]) == .seconds(1))
        #expect(Self.maxAge(lines, ["other", "cdn-cache-control"]) == .seconds(1))
        let control = CacheControl(targeted: Sample.fields(lines), names: ["CDN-CACHE-CONTROL"])
        #expect(control?.noStore == false)
        #expect(Self.maxAge(lines, ["", "no name", "\u{0}"]) == nil)
    }

    @Test(
        "RFC 9213 §2.1: skips an invalid or empty field for the next", .requirement("W05", "W06"),
        arguments: ["", " ", "max-age=60,", "Max-Age=60", "max-age = 60", "max-age=60; ;", "max-age=\"60"])
    func next(value: String) {
        let lines = ["My-Cache-Control: \(value)", "CDN-Cache-Control: max-age=5"]
        #expect(Self.maxAge(lines, ["my-cache-control", "cdn-cache-control"]) == .seconds(5))
        #expect(Self.maxAge(lines, ["my-cache-control"]) == nil)
    }

    @Test(
        "RFC 9213 §2.2: reads every directive that this cache acts on", .requirement("W05"),
        arguments: [
            ControlCase("max-age=60") { $0.maxAge = .seconds(60) },
            ControlCase("s-maxage=60") { $0.sharedMaxAge = .seconds(60) },
            ControlCase("must-revalidate") { $0.mustRevalidate = true },
            ControlCase("proxy-revalidate, must-understand", is: [\.proxyRevalidate, \.mustUnderstand]),
            ControlCase("no-store") { $0.noStore = true },
            ControlCase("no-cache") { $0.noCache = true },
            ControlCase(#"no-cache="Set-Cookie, X""#) { $0.noCacheFields = ["set-cookie", "x"] },
            ControlCase("no-cache=Set-Cookie") { $0.noCacheFields = ["set-cookie"] },
            ControlCase("private") { $0.isPrivate = true },
            ControlCase(#"private="set-cookie""#) { $0.isPrivate = true },
            ControlCase("public, immutable", is: [\.isPublic, \.isImmutable]),
            ControlCase("stale-while-revalidate=30, stale-if-error=40") {
                $0.staleWhileRevalidate = .seconds(30)
                $0.staleIfError = .seconds(40)
            },
            // Unknown or request directives: the field is still valid.
            ControlCase("community=UCI, max-stale, min-fresh=5, only-if-cached") { _ in },
        ])
    func directives(_ example: ControlCase) { check(example) }

    @Test(
        "RFC 9213 §2.1: a Dictionary: lines combine, parameters are ignored, the last of equal names counts",
        .requirement("W06"),
        arguments: [
            ControlCase("max-age=60", "no-cache", is: [\.noCache]) { $0.maxAge = .seconds(60) },
            ControlCase("max-age=60;a=b;c, no-store;x=?0", is: [\.noStore]) { $0.maxAge = .seconds(60) },
            ControlCase("max-age=60, max-age=5") { $0.maxAge = .seconds(5) },
            ControlCase("no-store, no-store=?0") { _ in },
            ControlCase("  max-age=007  ,\t private  ", is: [\.isPrivate]) { $0.maxAge = .seconds(7) },
            ControlCase(ignored: "max-age=60", "Nonsense"),
            ControlCase(ignored: "max-age=60", ""),
            ControlCase(ignored: "no-store;"),
            ControlCase(ignored: "no-store; foo=(a b)"),
            ControlCase(ignored: "no-cache=\"é\""),
            ControlCase(ignored: "max-age=-"),
            ControlCase(ignored: "max-age=1.2345"),
            ControlCase(ignored: "max-age=9999999999999999"),
            ControlCase(ignored: #"private=""#),
            ControlCase(ignored: "no-store=(a"),
        ])
    func dictionary(_ example: ControlCase) { check(example) }

    @Test(
        "RFC 9213 §2.1: a value of the wrong type restricts and permits nothing", .requirement("W06"),
        arguments: [
            ControlCase("no-store=?0, private=?0, no-cache=?0, must-revalidate=?0, public=?0, immutable=?0") { _ in },
            ControlCase("no-store=0") { $0.noStore = true },
            ControlCase("no-store=(a b)") { $0.noStore = true },
            ControlCase(#"must-revalidate="?0""#, is: [\.mustRevalidate, \.mustRevalidateIsMalformed]),
            ControlCase("private=()", is: [\.isPrivate, \.privateIsMalformed]),
            ControlCase("no-cache=5") { $0.noCache = true },
            ControlCase("no-cache=(a)") { $0.noCache = true },
            ControlCase(#"no-cache="""#) { $0.noCache = true },
            ControlCase(#"no-cache="a b""#) { $0.noCache = true },
            ControlCase("public=1, immutable=yes, must-understand=()") { _ in },
            ControlCase(#"max-age="60""#) { $0.maxAge = .malformed },
            ControlCase("max-age=60.0") { $0.maxAge = .malformed },
            ControlCase("max-age") { $0.maxAge = .malformed },
            ControlCase("max-age=?0") { $0.maxAge = .malformed },
            ControlCase("max-age=-1") { $0.maxAge = .malformed },
            ControlCase("max-age=(60)") { $0.maxAge = .malformed },
            ControlCase("max-age=@60") { $0.maxAge = .malformed },
            ControlCase("stale-while-revalidate=forever, stale-if-error=:AAAA:") {
                $0.staleWhileRevalidate = .malformed
                $0.staleIfError = .malformed
            },
        ])
    func types(_ example: ControlCase) { check(example) }

    @Test(
        "Numbers beyond 2^31 count as 2^31", .requirement("W05", "P09"),
        arguments: [2_147_483_648, 2_147_483_649, 999_999_999_999_999])
    func largeNumbers(number: Int64) {
        #expect(Self.maxAge(["X: max-age=\(number)"], ["x"]) == .seconds(2_147_483_648))
        #expect(Self.maxAge(["X: max-age=2147483647"], ["x"]) == .seconds(2_147_483_647))
    }

    @Test("A field of any length is read or ignored, in linear time", .requirement("W06"))
    func hostile() {
        let keys = (0..<1000).map { "k\($0)" }.joined(separator: ",")
        #expect(Self.maxAge(["X: \(keys),max-age=5"], ["x"]) == .seconds(5))
        for separator in [",", ";"] {
            let many = (0..<200_000).map { "k\($0)" }.joined(separator: separator)
            #expect(Self.maxAge(["X: max-age=5,\(many)"], ["x"]) == nil)
        }
        let parentheses = String(repeating: "(", count: 1_000_000)
        #expect(Self.maxAge(["X: max-age=5, a=\(parentheses)"], ["x"]) == nil)
    }
}
