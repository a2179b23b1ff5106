import Logging
import TestSupport

/// Each test fails for a changed default, and for a new property without a check.
@Suite("Documented defaults") struct DefaultsTests {
    private func isSilent(_ logger: Logger) -> Bool {
        var text = ""
        dump(logger, to: &text)
        return text.contains("SwiftLogNoOpLogHandler")
    }

    private func isSystemClock(_ clock: @Sendable () -> Date) -> Bool { abs(clock().timeIntervalSinceNow) < 60 }

    @Test("ResourceLoader.Configuration", .requirement("K1"))
    func loader() {
        var defaults = DocumentedDefaults(of: ResourceLoader.Configuration())
        defaults.check("policy") { $0.policy == CachePolicy(staleIfError: .seconds(Int64.max)) }
        defaults.check("urlPolicies") { $0.urlPolicies.isEmpty }
        defaults.check("partition") { $0.partition == "" }
        defaults.check("maxBodyBytes") { $0.maxBodyBytes == 1 << 30 }
        defaults.check("maxDecodedBytes") { $0.maxDecodedBytes == 64 << 20 }
        defaults.check("maxRedirects") { $0.maxRedirects == 20 }
        defaults.check("retry") { $0.retry.maxAttempts == 5 && $0.retry == RetryPolicy() }
        defaults.check("negativeCaching") { $0.negativeCaching == NegativeCaching() }
        defaults.check("lanes") { $0.lanes == LaneWidths(urgent: 6, background: 1, perHost: 4) }
        defaults.check("timeout") { $0.timeout == .seconds(300) }
        defaults.check("heldBack") { $0.heldBack == [:] }
        defaults.check("memoryLimit") { $0.memoryLimit == 0 }
        defaults.check("memoryStress") { $0.memoryStress == StressLimits() }
        defaults.check("memoryPressure") { $0.memoryPressure == nil }
        defaults.check("loadsFiles") { !$0.loadsFiles }
        defaults.check("decodesContent") { $0.decodesContent }
        defaults.check("contentTypes") { $0.contentTypes == nil }
        defaults.check("acceptsMissingContentType") { !$0.acceptsMissingContentType }
        defaults.check("credentials") { $0.credentials.isEmpty }
        defaults.check("processWait") { $0.processWait == .seconds(10) }
        defaults.check("reachability") { $0.reachability == nil }
        defaults.check("clock") { isSystemClock($0.clock) }
        // See sleep().
        defaults.check("sleep") { _ in true }
        defaults.check("chance") { configuration in
            let numbers = (0..<100).map { _ in configuration.chance() }
            return numbers.allSatisfy { (0..<1).contains($0) } && Set(numbers).count > 1
        }
        defaults.check("logger") { isSilent($0.logger) }
        defaults.check("cacheStatus") { $0.cacheStatus == nil }
        defaults.check("logOptions") { $0.logOptions == .errors }
        defaults.check("metrics") { $0.metrics == nil }
        defaults.check("observer") { $0.observer == nil }
        #expect(defaults.differences == [])
        #expect(ResourceLoader.insertedLifetime == 365 * 86_400)
    }

    @Test("HTTPCache.Configuration", .requirement("K1"))
    func cache() {
        var defaults = DocumentedDefaults(of: HTTPCache.Configuration())
        defaults.check("policy") { $0.policy == CachePolicy() }
        defaults.check("urlPolicies") { $0.urlPolicies.isEmpty }
        defaults.check("partition") { $0.partition == "" }
        defaults.check("maxBodyBytes") { $0.maxBodyBytes == 1 << 30 }
        defaults.check("abandonedBytes") { $0.abandonedBytes == 64 << 10 }
        defaults.check("cacheStatus") { $0.cacheStatus == CacheStatusOptions() }
        defaults.check("clearsSiteData") { !$0.clearsSiteData }
        defaults.check("processWait") { $0.processWait == .seconds(10) }
        defaults.check("clock") { isSystemClock($0.clock) }
        // See sleep().
        defaults.check("sleep") { _ in true }
        defaults.check("logger") { isSilent($0.logger) }
        defaults.check("logOptions") { $0.logOptions == .errors }
        defaults.check("metrics") { $0.metrics == nil }
        defaults.check("observer") { $0.observer == nil }
        #expect(defaults.differences == [])
    }

    @Test("The system's pause ends when its task is cancelled", .requirement("K1"))
    func sleep() async throws {
        let (loader, cache) = (ResourceLoader.Configuration(), HTTPCache.Configuration())
        for sleep in [loader.sleep, cache.sleep] {
            try await sleep(.zero)
            let pause = Task { try await sleep(.seconds(3_600)) }
            pause.cancel()
            await #expect(throws: CancellationError.self) { try await pause.value }
        }
    }

    @Test("ResourceRequest", .requirement("K1"))
    func request() {
        var defaults = DocumentedDefaults(of: ResourceRequest("https://example.com/"))
        defaults.check("url") { $0.url == "https://example.com/" }
        defaults.check("method") { $0.method == .get }
        defaults.check("content") { $0.content == nil }
        defaults.check("headerFields") { $0.headerFields.isEmpty }
        defaults.check("policy") { $0.policy == CachePolicy.Override() }
        defaults.check("key") { $0.key == nil }
        defaults.check("lane") { $0.lane == .urgent }
        defaults.check("abandonment") { $0.abandonment == .stop }
        defaults.check("retry") { $0.retry == nil }
        defaults.check("timeout") { $0.timeout == nil }
        defaults.check("usesMemory") { $0.usesMemory }
        #expect(defaults.differences == [])
    }

    @Test("LaneWidths, StressLimits, CacheStatusOptions and JSONProcessor", .requirement("K1"))
    func parts() {
        var lanes = DocumentedDefaults(of: LaneWidths())
        lanes.check("urgent") { $0.urgent == 6 }
        lanes.check("background") { $0.background == 1 }
        lanes.check("perHost") { $0.perHost == 4 }
        #expect(lanes.differences == [])

        var stress = DocumentedDefaults(of: StressLimits())
        stress.check("warning") { $0.warning == 0.5 }
        stress.check("critical") { $0.critical == 0.1 }
        stress.check("duration") { $0.duration == .seconds(10) }
        #expect(stress.differences == [])

        var cacheStatus = DocumentedDefaults(of: CacheStatusOptions())
        cacheStatus.check("name") { $0.name == "CacheStore" }
        cacheStatus.check("hasKey") { !$0.hasKey }
        cacheStatus.check("hasDetail") { !$0.hasDetail }
        #expect(cacheStatus.differences == [])

        let json = JSONProcessor(Int.self, version: 1, dates: .deferredToDate, keys: .useDefaultKeys)
        #expect(JSONProcessor(Int.self).id == json.id)
    }

    @Test("RetryPolicy and NegativeCaching", .requirement("K1"))
    func failures() {
        var retry = DocumentedDefaults(of: RetryPolicy())
        retry.check("maxAttempts") { $0.maxAttempts == 5 }
        retry.check("baseDelay") { $0.baseDelay == .seconds(1) }
        retry.check("maxDelay") { $0.maxDelay == .seconds(60) }
        retry.check("jitter") { $0.jitter == 0.5 }
        retry.check("maxRetryAfter") { $0.maxRetryAfter == .seconds(300) }
        #expect(retry.differences == [])

        var negative = DocumentedDefaults(of: NegativeCaching())
        negative.check("lifetime") { $0.lifetime == nil }
        negative.check("maxAttempts") { $0.maxAttempts == 3 }
        #expect(negative.differences == [])
    }

    #if canImport(Darwin)
    @Test("URLSessionTransport.Configuration", .requirement("K1"))
    func transport() {
        #expect(DefaultTransport.self == URLSessionTransport.self)
        var defaults = DocumentedDefaults(of: URLSessionTransport.Configuration())
        defaults.check("idleTimeout") { $0.idleTimeout == .seconds(60) }
        defaults.check("connectionsPerHost") { $0.connectionsPerHost == 6 }
        defaults.check("userAgent") { $0.userAgent == "CacheStore" }
        defaults.check("hostsWithAnyCertificate") { $0.hostsWithAnyCertificate.isEmpty }
        #expect(defaults.differences == [])
    }
    #else
    @Test("CurlTransport.Configuration", .requirement("K1"))
    func transport() {
        #expect(DefaultTransport.self == CurlTransport.self)
        var defaults = DocumentedDefaults(of: CurlTransport.Configuration())
        defaults.check("connectTimeout") { $0.connectTimeout == .seconds(10) }
        defaults.check("idleTimeout") { $0.idleTimeout == .seconds(60) }
        defaults.check("headTimeout") { $0.headTimeout == nil }
        defaults.check("connectionsPerHost") { $0.connectionsPerHost == 6 }
        defaults.check("keepAliveTimeout") { $0.keepAliveTimeout == .seconds(60) }
        defaults.check("maxHeadBytes") { $0.maxHeadBytes == 256 << 10 }
        defaults.check("allowsHTTP2") { $0.allowsHTTP2 }
        defaults.check("additionalTrustRoots") { $0.additionalTrustRoots == nil }
        defaults.check("hostsWithAnyCertificate") { $0.hostsWithAnyCertificate.isEmpty }
        defaults.check("proxies") { $0.proxies == .none }
        #expect(defaults.differences == [])
    }
    #endif
}
