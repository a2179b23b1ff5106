import TestSupport

/// The meaning of `nil` and zero as values of options, in one table.
@Suite("Options: nil means off or unlimited, as documented; zero means zero", .timeLimit(.minutes(5)))
struct OptionMeaningTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let holds: @Sendable () async throws -> Bool

        init(_ description: String, _ holds: @escaping @Sendable () async throws -> Bool) {
            (testDescription, self.holds) = (description, holds)
        }
    }

    @Test("The store", arguments: storeCases)
    func store(_ c: Case) async throws { #expect(try await c.holds()) }

    @Test("Values in memory", arguments: memoryCases)
    func memory(_ c: Case) async throws { #expect(try await c.holds()) }

    @Test("Loads", arguments: loadCases)
    func loads(_ c: Case) async throws { #expect(try await c.holds()) }

    @Test("Pauses and lanes", arguments: schedulingCases)
    func scheduling(_ c: Case) async throws { #expect(try await c.holds()) }

    // MARK: The store

    private static let storeCases: [Case] = [
        Case("Limits.maxBytes nil: any number") { try entries(Limits(maxBytes: nil)) == 3 },
        Case("Limits.maxBytes 0: none") { try entries(Limits(maxBytes: 0)) == 0 },
        Case("Limits.maxEntries nil: any number") { try entries(Limits(maxEntries: nil)) == 3 },
        Case("Limits.maxEntries 0: none") { try entries(Limits(maxEntries: 0)) == 0 },
        Case("Limits.maxEntryBytes nil: any number") { try entries(Limits(maxEntryBytes: nil)) == 3 },
        Case("Limits.maxEntryBytes 0: none") { try entries(Limits(maxEntryBytes: 0)) == 0 },
        Case("Limits.maxPartitionBytes nil: any number") { try entries(Limits(maxPartitionBytes: nil)) == 3 },
        Case("Limits.maxPartitionBytes 0: none") { try entries(Limits(maxPartitionBytes: 0)) == 0 },
        Case("ResponseStore.Configuration.limits nil: without limits") { try entries(nil) == 3 },
        Case("evict(maxBytes: 0): all") { try entries(nil) { try $0.evict(maxBytes: 0) } == 0 },
        Case("evict(.maxEntries(0)): all") { try entries(nil) { try $0.evict(.maxEntries(0)) } == 0 },
        Case("evict(.unusedFor(0)): all that are older than now") {
            try entries(nil) { try $0.evict(.unusedFor(.zero)) } == 0
        },
        Case("evict(.olderThan(0)): all that are older than now") {
            try entries(nil) { try $0.evict(.olderThan(.zero)) } == 0
        },
        Case("query(maxRows: nil): all rows") { try rows(nil) == 3 },
        Case("query(maxRows: 0): no row") { try rows(0) == 0 },
    ]

    /// Returns the number of remaining entries out of three in one partition, a second after their storing.
    private static func entries(
        _ limits: Limits?, _ evict: (ResponseStore) throws -> Void = { _ in }
    ) throws -> Int {
        let (directory, clock) = (try TemporaryDirectory(), ManualClock())
        defer { withExtendedLifetime(directory) {} }
        var configuration = ResponseStore.Configuration()
        configuration.limits = limits
        configuration.clock = clock.date
        let store = try ResponseStore(directory: directory.url, configuration: configuration)
        for number in 0..<3 {
            let metadata = EntryMetadata(status: 200, requestedAt: clock.now, receivedAt: clock.now)
            let key = try CacheKey(url: "https://example.com/\(number)", partition: "user")
            do throws(StoreError) {
                try store.insert(Data("body \(number)".utf8), metadata: metadata, for: key)
            } catch .exceedsLimits, .bodyTooLarge {}
        }
        clock.advance(by: 1)
        try evict(store)
        return try store.statistics().entries
    }

    private static func rows(_ maxRows: Int?) throws -> Int {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        return try ResponseStore(directory: directory.url).query("VALUES (1), (2), (3)", maxRows: maxRows).rows.count
    }

    // MARK: Values in memory

    private static let memoryCases: [Case] = [
        Case("MemoryCache.costLimit nil: any cost") {
            MemoryCache<Int, Int>(costLimit: nil).insert(1, for: 1, cost: 1 << 50)
        },
        Case("MemoryCache.costLimit 0: no cost") { !MemoryCache<Int, Int>(costLimit: 0).insert(1, for: 1, cost: 1) },
        Case("memoryLimit nil: any number") { try await secondSource { $0.memoryLimit = nil } == .memory },
        Case("memoryLimit 0: nothing") { try await secondSource { $0.memoryLimit = 0 } == .disk },
        Case("memoryLimit Int.max: any number") { try await secondSource { $0.memoryLimit = .max } == .memory },
        Case("StressLimits.warning 0: nothing") { held(StressLimits(warning: 0), after: .warning) == 0 },
        Case("StressLimits.critical 0: nothing") { held(StressLimits(critical: 0), after: .critical) == 0 },
        Case("StressLimits.duration 0: for no time") { held(StressLimits(duration: .zero), after: .critical) == 10 },
    ]

    /// Returns the source of a load that follows an equal one.
    private static func secondSource(
        _ configure: (inout ResourceLoader.Configuration) -> Void
    ) async throws -> ResponseSource {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport, configure: configure)
        _ = try await fixture.loader.load(url)
        return try await fixture.loader.load(url).source
    }

    /// Returns the number of the ten values that a cache holds after a signal.
    private static func held(_ stress: StressLimits, after pressure: MemoryPressure) -> Int {
        let cache = MemoryCache<Int, Int>(costLimit: 10, stress: stress, clock: ManualClock().date)
        for number in 0..<10 { cache.insert(number, for: number, cost: 1) }
        cache.respond(to: pressure)
        return cache.count
    }

    // MARK: Loads

    private static func cacheStatus(_ options: CacheStatusOptions?) async throws -> String? {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport) { $0.cacheStatus = options }
        let fields = try await fixture.loader.load(url).headerFields
        return fields.first { $0.name.canonicalName == "cache-status" }?.value
    }

    private static let url = "https://example.com/a"

    private static let loadCases: [Case] = [
        Case("NegativeCaching.lifetime nil: off") { try await requests(NegativeCaching(maxAttempts: 1)) == 3 },
        Case("NegativeCaching.lifetime 0: for no time") {
            try await requests(NegativeCaching(lifetime: .zero, maxAttempts: 1)) == 3
        },
        Case("NegativeCaching.maxAttempts 0: as 1") {
            try await requests(NegativeCaching(lifetime: .seconds(60), maxAttempts: 0)) == 1
        },
        Case("maxBodyBytes 0: empty bodies only") {
            let empty = try await failure("", { $0.maxBodyBytes = 0 })
            let larger = try await failure("a", { $0.maxBodyBytes = 0 })
            return empty == nil && larger == .bodyTooLarge(url: url, limit: 0)
        },
        Case("maxRedirects 0: no redirect") {
            try await failure("", to: "/b", { $0.maxRedirects = 0 }) == .tooManyRedirects(url: url, limit: 0)
        },
        Case("cacheStatus nil: no field") { try await cacheStatus(nil) == nil },
        Case("cacheStatus: a field") {
            try await cacheStatus(CacheStatusOptions(name: "x"))?.hasPrefix("x;fwd=") == true
        },
        Case("processWait 0: no wait") { try await failure("a", { $0.processWait = .zero }) == nil },
        Case("timeout nil: as long as the transport allows") { try await failure("a", timeout: nil) == nil },
        Case("timeout 0: at once") {
            let error = try await failure(nil, timeout: .zero)
            guard case .transport(let error, _) = error else { return false }
            return error.code == .timedOut
        },
        Case("CachePolicy.staleIfError 0: not beyond the lifetime") {
            try await sourceOfStale(CachePolicy(staleIfError: .zero)) == nil
        },
    ]

    /// Returns the number of requests that three failing loads send.
    private static func requests(_ negativeCaching: NegativeCaching) async throws -> Int {
        let transport = ScriptedTransport { _, _ in .reply(404) }
        let fixture = try LoaderFixture(transport: transport) { $0.negativeCaching = negativeCaching }
        for _ in 0..<3 { _ = try? await fixture.loader.load(url) }
        return transport.requestCount
    }

    /// Returns the error of a load to which the origin answers with `body`, or never, for `nil`.
    private static func failure(
        _ body: String?, to location: String? = nil, timeout: Duration? = nil,
        _ configure: (inout ResourceLoader.Configuration) -> Void = { _ in }
    ) async throws -> LoadError? {
        let gate = Gate()
        defer { gate.open() }
        let transport = ScriptedTransport { request, _ in
            if body == nil { await gate.wait() }
            guard let location, request.path != location else { return .reply(200, [:], body ?? "") }
            return .reply(301, [.location: location])
        }
        let fixture = try LoaderFixture(transport: transport, configure: configure)
        do throws(LoadError) {
            _ = try await fixture.loader.load(ResourceRequest(url, timeout: timeout))
            return nil
        } catch {
            return error
        }
    }

    /// Returns the source of a load one second after the end of the stored lifetime, when the origin answers with an
    /// error. Returns `nil` if the load fails.
    private static func sourceOfStale(_ policy: CachePolicy) async throws -> ResponseSource? {
        let first = FirstTime()
        let (_, fixture) = try LoaderFixture.scripted(policy: policy) { _, _ in
            first.isFirst() ? .reply(200, [.cacheControl: "max-age=60"], "body") : .reply(500)
        }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        return try? await fixture.loader.load(url).source
    }

    // MARK: Pauses and lanes

    private static let schedulingCases: [Case] = [
        Case("RetryPolicy.maxAttempts 0: as 1") { pause(RetryPolicy(maxAttempts: 0)) == nil },
        Case("RetryPolicy.baseDelay 0: no pause") { pause(RetryPolicy(baseDelay: .zero)) == .zero },
        Case("RetryPolicy.maxDelay 0: no pause") { pause(RetryPolicy(maxDelay: .zero)) == .zero },
        Case("RetryPolicy.jitter 0: whole pauses") { pause(RetryPolicy(jitter: 0)) == .seconds(1) },
        Case("RetryPolicy.maxRetryAfter 0: a longer wait is final") {
            pause(RetryPolicy(maxRetryAfter: .zero), retryAfter: .seconds(1)) == nil
        },
        Case("RetryPolicy.maxRetryAfter 0: a wait of 0 is allowed") {
            pause(RetryPolicy(jitter: 0, maxRetryAfter: .zero), retryAfter: .zero) == .seconds(1)
        },
        Case("LaneWidths.urgent 0: none") { starts(.urgent, LaneWidths(urgent: 0)) == 0 },
        Case("LaneWidths.background 0: none") { starts(.background, LaneWidths(background: 0)) == 0 },
        Case("LaneWidths.perHost 0: none") { starts(.urgent, LaneWidths(perHost: 0)) == 0 },
        Case("LaneWidths.perHost 1: one") { starts(.urgent, LaneWidths(perHost: 1)) == 1 },
    ]

    private static func pause(_ policy: RetryPolicy, retryAfter: Duration? = nil) -> Duration? {
        policy.delay(after: .status(503, url: url), attempt: 1, retryAfter: retryAfter, chance: 0.5)
    }

    /// Returns the number of the three loads from one host that begin immediately.
    private static func starts(_ lane: Lane, _ widths: LaneWidths) -> Int {
        var table = LoadTable<Int, Int>(widths: widths)
        var count = 0
        for number in 0..<3 {
            let ticket = table.ticket()
            let (_, actions) = table.attach(
                number, ticket, to: number, host: "example.com", lane: lane, abandonment: .stop)
            count += actions.count
        }
        return count
    }
}
