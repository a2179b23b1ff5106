import CacheTier
import TestSupport

/// A machine of a fleet: a store, and a cache with the shared tier behind it.
struct Machine {
    let tier: SharedTier
    let cache: HTTPCache

    /// - Parameters:
    ///   - engine: The engine of the tier.
    ///   - keys: The keys; the fleet's by default.
    ///   - change: Changes the configuration. Deadlines are long, so that a busy system fails no test.
    init(
        _ engine: any TierEngine, keys: TierKeys? = nil, origin: any HTTPTransport = DefaultTransport(),
        _ change: (inout SharedTier.Configuration) -> Void = { _ in }
    ) throws {
        var configuration = SharedTier.Configuration()
        configuration.deadline = .seconds(120)
        configuration.bodyDeadline = .seconds(120)
        configuration.writeDeadline = .seconds(120)
        configuration.removalDelay = .zero
        change(&configuration)
        tier = SharedTier(engine: engine, keys: try keys ?? Self.keys(), configuration: configuration)
        cache = HTTPCache(store: try .temporary(), transport: TieredTransport(tier: tier, origin: origin))
    }

    /// A machine and an engine with frozen clocks: ages are exact, however busy the system is.
    init(
        _ server: ObjectServer, keys: TierKeys? = nil, origin: any HTTPTransport = DefaultTransport(),
        _ change: (inout SharedTier.Configuration) -> Void = { _ in }
    ) throws {
        try self.init(try PlainEngine(server.url, transport: DefaultTransport()), keys: keys, origin: origin) {
            $0.uptime = { .zero }
            change(&$0)
        }
    }

    static func keys(_ id: String = "1", names: UInt8 = 1, secret: UInt8 = 2) throws -> TierKeys {
        try TierKeys(
            names: Data(repeating: names, count: 32), writing: .hmac(id: id, secret: Data(repeating: secret, count: 32))
        )
    }

    /// Requests a URL, reads the whole body, and waits for the tier's writes.
    @discardableResult
    func get(_ url: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get) async throws -> (
        status: Int, fields: HTTPFields, body: Data, source: ResponseSource
    ) {
        guard let parts = URLComponents(string: url), let host = parts.host else { throw URLError(.badURL) }
        let authority = parts.port.map { "\(host):\($0)" } ?? host
        let response = try await cache.response(
            for: HTTPRequest(
                method: method, scheme: parts.scheme, authority: authority, path: parts.path, headerFields: fields))
        let body = try await response.data()
        await tier.waitForWrites()
        return (response.status.code, response.headerFields, body, response.source)
    }
}

extension HTTPFields {
    /// The members of `Cache-Status`, one line each.
    var cacheStatus: String { HTTPField.Name("Cache-Status").map { self[values: $0].joined(separator: ", ") } ?? "" }
    var ageSeconds: Int? { self[.age].flatMap { Int($0) } }
}
