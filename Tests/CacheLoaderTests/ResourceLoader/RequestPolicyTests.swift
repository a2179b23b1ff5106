import CacheModels
import TestSupport

@Suite("Policies of requests", .timeLimit(.minutes(5))) struct RequestPolicyTests {
    private let url = "https://example.com/a"

    @Test(
        "RFC 5861 §4: a policy that changes the mode keeps the loader's stale-if-error",
        arguments: [.http, .cacheFirst] as [CachePolicy.Override])
    func staleIfError(policy: CachePolicy.Override) async throws {
        let transport = ScriptedTransport(.ok("good".utf8, cacheControl: "max-age=1", etag: "\"1\""), .status(503))
        let fixture = try LoaderFixture(transport: transport, policy: ResourceLoader.Configuration().policy)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 10)
        let stale = try await fixture.loader.load(ResourceRequest(url, policy: policy))
        #expect(stale.text == "good")
        #expect(stale.isStale)
        let strict = ResourceRequest(url, policy: policy.applying(.init(staleIfError: .zero)))
        if policy.mode != .cacheFirst {
            #expect(stale.failure?.brief == .status(503, url: url))
            await expectError(.status(503, url: url)) { try await fixture.loader.load(strict) }
        }
    }

    @Test("A policy that changes the lifetime keeps the loader's mode")
    func keepsMode() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=1"))
        let fixture = try LoaderFixture(transport: transport) { $0.policy.mode = .cacheFirst }
        let request = ResourceRequest(url, policy: .init(defaultLifetime: .seconds(5)))
        for _ in 0..<2 {
            _ = try await fixture.loader.load(request)
            fixture.clock.advance(by: 10)
        }
        #expect(transport.requestCount == 1)
    }

    @Test("HTTPCache: a request's policy keeps the other properties of the configuration")
    func cache() async throws {
        let transport = ScriptedTransport(.ok("good".utf8, cacheControl: "max-age=1"), .status(503))
        let fixture = try LoaderFixture(transport: transport, policy: CachePolicy(staleIfError: .seconds(600)))
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 10)
        let policy = CachePolicy.Override(defaultLifetime: .seconds(1))
        #expect(try await fixture.cache.response(for: .to("/a"), policy: policy).text == "good")
        #expect(try fixture.cache.storedResponse(for: .to("/a"), policy: .cacheFirst)?.isStale == true)
        let strict = try await fixture.cache.response(for: .to("/a"), policy: .init(staleIfError: .zero))
        #expect(strict.status == .serviceUnavailable)
    }

    @Test("A request's policy does not make a private cache shared")
    func shared() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(200, [.cacheControl: "max-age=60"], request.headerFields[.authorization] ?? "none")
        }
        for policy in [.cacheFirst, .immutable] as [CachePolicy.Override] {
            for account in ["one", "two"] {
                let request = ResourceRequest(url, headerFields: [.authorization: account], policy: policy)
                #expect(try await fixture.loader.load(request).text == account)
            }
        }
    }

    @Test("Reloading with a policy keeps the other changes of the bound request")
    @MainActor func reload() async throws {
        let policies = Policies()
        let model = ObservedResource<Data>(begin: { request in
            policies.append(request.policy)
            return AsyncStream { $0.finish() }
        })
        model.bind(ResourceRequest(url, policy: .immutable))
        model.reload(policy: .revalidateAlways)
        let both = CachePolicy.Override(mode: .revalidateAlways, lifetimeOverride: .immutable)
        #expect(policies.all == [.immutable, both])
    }

    private final class Policies: Sendable {
        /// Guards the policies of the started loads, in order.
        private let list = Mutex<[CachePolicy.Override]>([])

        var all: [CachePolicy.Override] { list.withLock { $0 } }

        func append(_ policy: CachePolicy.Override) { list.withLock { $0.append(policy) } }
    }

    // MARK: Immutable content

    @Test(
        "Immutable content is stored and reused despite its directives",
        arguments: ["no-store", "no-cache", "max-age=0, must-revalidate", "private, no-store, max-age=0"], [0, 1 << 20])
    func immutable(directives: String, memoryLimit: Int) async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: directives, etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = memoryLimit }
        let request = ResourceRequest(url, policy: .immutable)
        _ = try await fixture.loader.load(request)
        fixture.clock.advance(by: 1_000_000_000)
        let again = try await fixture.loader.load(request)
        #expect(again.text == "body")
        #expect(!again.isStale)
        #expect(again.source == (memoryLimit == 0 ? .disk : .memory))
        #expect(transport.requestCount == 1)
        _ = try await fixture.loader.load(url)
        #expect(transport.requestCount == 2, "a request under the default policy asks the origin")
    }

    @Test("Under the policy for immutable content, a redirect and an error keep their own lifetime")
    func immutableStatuses() async throws {
        let transport = ScriptedTransport { request, _ in
            switch request.path {
            case "/a": .reply(302, [.location: "/b"])
            case "/b": .reply(200, [.cacheControl: "no-store"], "body")
            default: .reply(404, [.cacheControl: "no-store"])
            }
        }
        let fixture = try LoaderFixture(transport: transport) { $0.policy.lifetimeOverride = .immutable }
        for _ in 0..<2 { #expect(try await fixture.loader.load(url).text == "body") }
        #expect(transport.requests.map(\.path) == ["/a", "/b", "/a"])
        fixture.cache.configuration.policy.lifetimeOverride = .immutable
        for _ in 0..<2 { _ = try await fixture.cache.response(for: .to("/c")).bytes }
        #expect(transport.requests.map(\.path).suffix(2) == ["/c", "/c"])
    }
}
