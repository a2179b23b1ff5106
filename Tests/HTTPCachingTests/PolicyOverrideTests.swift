import TestSupport

@Suite struct PolicyOverrideTests {
    /// A policy in which every property differs from its default.
    private static let base = CachePolicy(
        mode: .cacheFirst, lifetimeOverride: .fixed(.seconds(1)), defaultLifetime: .seconds(2), heuristicFraction: 0.3,
        heuristicLimit: .seconds(4), isShared: true, staleIfError: .seconds(5), staleWhenDisconnected: .seconds(6),
        targetedFields: ["CDN-Cache-Control"], contentKeys: true, verifiesDigests: true, usesDictionaries: true)

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let override: CachePolicy.Override
        let change: @Sendable (inout CachePolicy) -> Void
        var testDescription: String { name }

        init(
            _ name: String, _ override: CachePolicy.Override, _ change: @escaping @Sendable (inout CachePolicy) -> Void
        ) {
            self.name = name
            self.override = override
            self.change = change
        }
    }

    @Test(
        "An override changes the property that it names and keeps all others",
        arguments: [
            Case("none", .init()) { _ in },
            Case("mode", .init(mode: .cacheOnly)) { $0.mode = .cacheOnly },
            Case("lifetimeOverride", .init(lifetimeOverride: .doNotStore)) { $0.lifetimeOverride = .doNotStore },
            Case("defaultLifetime", .init(defaultLifetime: .zero)) { $0.defaultLifetime = .zero },
            Case("heuristicFraction", .init(heuristicFraction: 0)) { $0.heuristicFraction = 0 },
            Case("heuristicLimit", .init(heuristicLimit: .zero)) { $0.heuristicLimit = .zero },
            Case("staleIfError", .init(staleIfError: .zero)) { $0.staleIfError = .zero },
            Case("staleWhenDisconnected", .init(staleWhenDisconnected: .zero)) { $0.staleWhenDisconnected = .zero },
            Case("contentKeys", .init(contentKeys: false)) { $0.contentKeys = false },
            Case("verifiesDigests", .init(verifiesDigests: false)) { $0.verifiesDigests = false },
            Case("usesDictionaries", .init(usesDictionaries: false)) { $0.usesDictionaries = false },
            Case(".http", .http) { $0.mode = .http },
            Case(".cacheFirst", .cacheFirst) { $0.mode = .cacheFirst },
            Case(".revalidateAlways", .revalidateAlways) { $0.mode = .revalidateAlways },
            Case(".remoteOnly", .remoteOnly) { $0.mode = .remoteOnly },
            Case(".cacheOnly", .cacheOnly) { $0.mode = .cacheOnly },
            Case(".immutable", .immutable) { $0.lifetimeOverride = .immutable },
        ])
    func applying(_ c: Case) {
        var expected = Self.base
        c.change(&expected)
        #expect(Self.base.applying(c.override) == expected)
    }

    @Test("For each property, the later of two overrides wins")
    func composing() {
        let first = CachePolicy.Override(mode: .cacheFirst, staleIfError: .seconds(1))
        let second = CachePolicy.Override(mode: .cacheOnly, staleWhenDisconnected: .seconds(2))
        let both = CachePolicy.Override(mode: .cacheOnly, staleIfError: .seconds(1), staleWhenDisconnected: .seconds(2))
        #expect(first.applying(second) == both)
        #expect(Self.base.applying(both) == Self.base.applying(first).applying(second))
    }

    @Test("Two overrides compose property by property")
    func composingAll() {
        let all = CachePolicy.Override(
            mode: .http, lifetimeOverride: .immutable, defaultLifetime: .seconds(7), heuristicFraction: 0.8,
            heuristicLimit: .seconds(9), staleIfError: .seconds(10), staleWhenDisconnected: .seconds(11),
            contentKeys: true, verifiesDigests: true, usesDictionaries: true)
        #expect(CachePolicy.Override().applying(all) == all)
        #expect(all.applying(CachePolicy.Override()) == all)
    }
}
