/// A store, a loader and a cache in a temporary directory, with a clock that the test controls.
package final class LoaderFixture: Sendable {
    package let directory: TemporaryDirectory
    package let clock = ManualClock()
    package let store: ResponseStore
    package let loader: ResourceLoader
    package let cache: HTTPCache

    /// Whether `CACHESTORE_FIXTURE` selects the policy and the retries of a loader's default configuration. Otherwise
    /// the policy follows RFC 9111, and nothing is retried. A policy of the test takes precedence.
    package static let hasLoaderDefaults = ProcessInfo.processInfo.environment["CACHESTORE_FIXTURE"] == "defaults"

    package init(
        transport: any HTTPTransport, directory: TemporaryDirectory? = nil, policy: CachePolicy? = nil,
        limits: Limits? = nil, storing: ResponseStore.Configuration = ResponseStore.Configuration(),
        configure: (inout ResourceLoader.Configuration) -> Void = { _ in }
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        var storing = storing
        storing.clock = clock.date
        storing.limits = limits
        store = try ResponseStore(directory: directory.url, configuration: storing)
        // On a busy system, the time limit for the body of a redirect must not end its transfer.
        let sleep: @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0 < .seconds(5) ? $0 : .seconds(600))
        }
        var loading = ResourceLoader.Configuration()
        loading.clock = clock.date
        loading.sleep = sleep
        loading.retry = Self.hasLoaderDefaults ? RetryPolicy(baseDelay: .milliseconds(1)) : .never
        // No timeout: a test with its own clock expects only its own pauses.
        loading.timeout = nil
        if let policy { loading.policy = policy } else if !Self.hasLoaderDefaults { loading.policy = CachePolicy() }
        configure(&loading)
        loader = ResourceLoader(store: store, transport: transport, configuration: loading)
        var caching = HTTPCache.Configuration()
        caching.clock = clock.date
        caching.sleep = sleep
        caching.policy = policy ?? CachePolicy()
        cache = HTTPCache(store: store, transport: transport, configuration: caching)
    }

    /// Returns once content is stored for a URL. A redirect is stored after the loader has followed it.
    package func stored(_ url: String) async throws {
        let key = try CacheKey(url: url)
        try await eventually { try store.contains(key) }
    }

    /// The names and contents of the blobs.
    package var blobs: [(url: URL, bytes: Data)] {
        get throws {
            let root = directory.url.appending(path: "blobs")
            let names = try FileManager.default.subpathsOfDirectory(atPath: root.path(percentEncoded: false))
            // Names of two characters are folders.
            return try names.filter { $0.utf8.count > 2 }
                .map { root.appending(path: $0) }
                .map { ($0, try Data(contentsOf: $0)) }
        }
    }
}

extension LoaderFixture {
    /// A transport with this script, and a fixture that sends its requests to it.
    package static func scripted(
        policy: CachePolicy? = nil, limits: Limits? = nil,
        _ answer: @escaping @Sendable (HTTPRequest, Data?) async throws(TransportError) -> TransportResponse
    ) throws -> (ScriptedTransport, LoaderFixture) {
        try sending(to: ScriptedTransport(answer), policy: policy, limits: limits)
    }

    /// The transport, and a fixture that sends its requests to it.
    package static func sending<Transport: HTTPTransport>(
        to transport: Transport, directory: TemporaryDirectory? = nil, policy: CachePolicy? = nil,
        limits: Limits? = nil, configure: (inout ResourceLoader.Configuration) -> Void = { _ in }
    ) throws -> (Transport, LoaderFixture) {
        let fixture = try LoaderFixture(
            transport: transport, directory: directory, policy: policy, limits: limits, configure: configure)
        return (transport, fixture)
    }
}

extension ScriptedTransport {
    /// Sends the replies of an origin in order, without a network, and repeats the last one.
    package convenience init(_ first: OriginReply, _ others: OriginReply...) {
        self.init(([first] + others).map { .reply($0.status, $0.fields, body: Data($0.body)) })
    }
}

extension ScriptedTransport {
    /// Gives this reply to each request that the gate lets pass.
    package static func held(
        by gate: Gate, _ reply: @autoclosure @escaping @Sendable () -> TransportResponse
    ) -> ScriptedTransport {
        ScriptedTransport { _, _ in
            await gate.wait()
            return reply()
        }
    }
}

extension HTTPRequest {
    /// A request to the only origin of these tests.
    package static func to(_ path: String, method: Method = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields)
    }
}

extension CachedResponse {
    /// The whole body.
    package var bytes: Data {
        get async throws {
            var bytes = Data()
            for try await chunk in body { bytes += chunk }
            return bytes
        }
    }

    package var text: String { get async throws { String(decoding: try await bytes, as: UTF8.self) } }
}

extension Loaded<Data> {
    package var text: String { String(decoding: data, as: UTF8.self) }
}
