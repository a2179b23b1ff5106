import CacheLoader
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport

extension Machine {
    /// A machine with a frozen clock, and an engine with conditional writes.
    init(
        leasing server: ObjectServer, _ change: (inout SharedTier.Configuration) -> Void = { _ in }
    ) throws {
        try self.init(.plain(server.url, conditionalWrites: true, transport: DefaultTransport())) {
            $0.uptime = { .zero }
            $0.leaseWait = .seconds(3600)
            change(&$0)
        }
    }

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

extension LoopbackOrigin {
    /// An origin that sends its first reply once the gate opens.
    static func holding(
        _ gate: Gate, _ reply: OriginReply = .ok("a".utf8, cacheControl: "max-age=60")
    ) async throws -> LoopbackOrigin {
        try await LoopbackOrigin { request in
            if request.serial == 1 { await gate.wait() }
            return reply
        }
    }
}

extension ObjectServer {
    /// The names of the leases of loads, without those that test the engine.
    var leases: [String] { names("lease").filter { !$0.contains("/check/") } }
}

extension OriginRequest {
    /// Whether the request concerns the lease of a load.
    var isAboutLease: Bool { path.contains("/lease/") && !path.contains("/check/") }
}

/// Yields until another task makes the condition true.
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
