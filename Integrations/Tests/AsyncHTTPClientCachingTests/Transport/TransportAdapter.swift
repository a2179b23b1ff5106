import AsyncHTTPClientCaching
import CacheLoader
import Foundation

/// The transports of this package. The suites of the package CacheStore run against each; this folder has links to
/// them.
enum TransportAdapter: String, CaseIterable, Sendable {
    case asyncHTTPClient = "AsyncHTTPClient"

    func make(idleTimeout seconds: Int = 600) -> any HTTPTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.idleTimeout = .seconds(seconds)
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}

extension TransportBody {
    /// Creates a body from chunks, which a failure may follow.
    init(chunks: [Data], failure: TransportError? = nil) {
        self.init(
            AsyncThrowingStream<Data, any Error> { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish(throwing: failure)
            })
    }
}
