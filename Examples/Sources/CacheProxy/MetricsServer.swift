internal import Hummingbird
internal import Logging
internal import NIOCore

/// Answers `GET /metrics` on a port of its own with the counts of the proxy, for Prometheus.
struct MetricsServer: Sendable {
    private let task: Task<Void, Never>

    /// Binds the address before it returns. Port 0 takes a free port.
    ///
    /// - Returns: The server, and its port.
    static func start(
        at address: ListenAddress, logger: Logger, text: @escaping @Sendable () throws -> String
    ) async throws -> (server: MetricsServer, port: Int) {
        let router = Router()
        router.get("/metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: try text())))
        }
        let (ports, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        var log = logger
        log.logLevel = .error
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? address.port) }, logger: log)
        let task = Task {
            do {
                try await application.run()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        for try await port in ports { return (MetricsServer(task: task), port) }
        throw CancellationError()
    }

    func stop() { task.cancel() }
}
