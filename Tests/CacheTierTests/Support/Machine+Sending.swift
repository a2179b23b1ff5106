import CacheTier
import TestSupport

extension Machine {
    /// Sends a request, bypassing the machine's store.
    func send(
        _ origin: LoopbackOrigin, _ path: String = "/a", _ fields: HTTPFields = [:],
        method: HTTPRequest.Method = .get
    ) async throws -> TransportResponse {
        let transport = TieredTransport(tier: tier, origin: DefaultTransport())
        return try await transport.send(
            HTTPRequest(method: method, scheme: "http", authority: origin.authority, path: path, headerFields: fields),
            content: nil)
    }
}
