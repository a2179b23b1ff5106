internal import ArgumentParser
internal import CacheConfiguration
internal import CacheLoader
internal import CacheStore
internal import CacheTier
internal import Foundation
internal import Logging

/// A caching proxy for HTTP on a store directory.
///
/// Tests the library with any client: the proxy changes messages only where RFC 9111 requires a cache to change them.
@main
struct CacheProxy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cacheproxy",
        abstract: "A caching HTTP proxy on a store directory.",
        discussion: """
            With --origin a reverse proxy: forwards all requests to that origin, with the Host of the client, which is a \
            part of the URL of a stored response. Otherwise a forward proxy: requests in absolute form go to the host \
            that they name. Nothing is added. A safe request is sent once more if a kept connection to the origin turns \
            out to be closed.

            Values also come from the environment, such as CACHEPROXY_LISTEN, CACHEPROXY_STORE_DIRECTORY and \
            CACHEPROXY_STORE_MAX_BYTES, and from a JSON file. The command line comes before the environment, and the \
            environment before the file.
            """)

    @Option(
        help: ArgumentHelp("Read this file, such as {\"listen\": \"127.0.0.1:8081\"}.", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(help: "Where to listen: host:port. Port 0 takes a free one.")
    var listen: ListenAddress?

    @Option(help: "Where all requests go: http://host:port or https://host:port.")
    var origin: OriginAddress?

    @Flag(help: "Send the name of the origin as Host: all names of the proxy share stored responses.")
    var originHost = false

    @Option(
        help: ArgumentHelp(
            "Answer only requests for this host, with its port if it is not the default one. Repeat it for several.",
            valueName: "host"))
    var host: [String] = []

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp(
            "Trust the certificates in this PEM file, too, such as that of a private authority.", valueName: "file"),
        completion: .file())
    var rootCertificates: String?

    @Option(help: "The directory of the store.")
    var store: String?

    @Flag(help: "Answer as a cache of several users.")
    var shared = false

    @Option(
        help: ArgumentHelp(
            "A field that replaces Cache-Control here, such as CDN-Cache-Control (RFC 9213). The first valid one counts.",
            valueName: "field"))
    var targeted: [TargetedField] = []

    @Option(help: "The most bytes that the store keeps.")
    var maxBytes: Int64?

    @Option(help: "Answer GET /metrics here, for Prometheus: host:port. Port 0 takes a free one.")
    var metrics: ListenAddress?

    @Option(
        help: ArgumentHelp(
            "A cache that machines share: the URL of its folder, or s3+https://HOST/BUCKET. CACHESTORE_TIER_KEY has its secret.",
            valueName: "url"))
    var tier: String?

    @Option(help: ArgumentHelp("The partition of the shared tier, such as a tenant.", valueName: "name"))
    var tierPartition: String?

    @Option(
        help: ArgumentHelp(
            "Wait for an answer of the shared tier for as many seconds; 0.1 by default, 0.5 on S3.",
            valueName: "seconds"))
    var tierDeadline: Double?

    func run() async throws {
        let termination = TerminationSignal()
        // No other code in this process uses SQLite.
        ResponseStore.disableSQLiteMemoryStatistics()
        let settings = try await Settings(self)
        var logger = Logger(label: "cacheproxy") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = settings.logLevel
        var defaults = ResponseStore.Configuration()
        defaults.limits = nil
        defaults.logger = logger
        let store = try ResponseStore(
            directory: URL(filePath: settings.directory),
            configuration: await ResponseStore.Configuration(reader: settings.reader, defaults: defaults))
        defer { store.close() }

        var configuration = HTTPCache.Configuration()
        // The proxy does not limit the size of its clients' bodies.
        configuration.maxBodyBytes = .max
        configuration.logger = logger
        configuration = try await HTTPCache.Configuration(reader: settings.reader, defaults: configuration)
        var connections = CurlTransport.Configuration()
        // Opens enough connections for all clients, so that a slow response delays no other client.
        connections.connectionsPerHost = 1024
        connections.additionalTrustRoots = try settings.rootCertificates.map { try RootCertificates(pemFile: $0) }
        let transport = CurlTransport(configuration: connections)
        // Separate connections, so that a lookup never waits for a connection to an origin.
        let tierTransport = CurlTransport(configuration: connections)
        var tiering = SharedTier.Configuration()
        tiering.policy.targetedFields = configuration.policy.targetedFields
        let tier = try await SharedTier(reader: settings.reader, transport: tierTransport, defaults: tiering)
        if tier == nil, tierPartition != nil || tierDeadline != nil {
            throw ValidationError("--tier-partition and --tier-deadline need --tier")
        }
        var upstream: any HTTPTransport = transport
        if let origin = settings.origin { upstream = OriginTransport(origin: origin, transport: transport) }
        if let tier { upstream = TieredTransport(tier: tier, origin: upstream) }
        let cache = HTTPCache(store: store, transport: upstream, configuration: configuration)

        let gateway = Gateway(
            cache: cache, origin: settings.origin, replacesHost: settings.originHost,
            hosts: Set(settings.hosts.map { $0.lowercased() }))
        let server = try await ProxyServer(at: settings.listen, gateway: gateway)
        try Self.write("listening on", settings.listen, server.port)
        var metricsServer: MetricsServer?
        if let metrics = settings.metrics {
            let started = try await MetricsServer.start(at: metrics, logger: logger) {
                MetricsText(cache.counters, try store.statistics(), tier).text
            }
            metricsServer = started.server
            try Self.write("metrics on", metrics, started.port)
        }
        for await _ in termination.arrivals { break }
        metricsServer?.stop()
        await server.stop()
        await tier?.waitForWrites()
        await tierTransport.shutdown()
        await transport.shutdown()
    }

    private static func write(_ text: String, _ address: ListenAddress, _ port: Int) throws {
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        try FileHandle.standardOutput.write(contentsOf: Data("\(text) http://\(host):\(port)\n".utf8))
    }
}
