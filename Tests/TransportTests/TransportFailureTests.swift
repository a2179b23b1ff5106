import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin
import Testing

// In the package Integrations, Gate is a part of this target.
#if !INTEGRATIONS
import TestSupport
#endif

@Suite("Transport: failures") struct TransportFailureTests {
    private static let body = Array(repeating: UInt8(ascii: "x"), count: 1_000_000)

    @Test(
        "An invalid response is a typed error", arguments: TransportAdapter.allCases,
        [
            (OriginReply.Delivery.resetBeforeHead, [TransportError.Code.connectionLost]),
            (.garbage(Array("no HTTP at all\r\n\r\n".utf8)), [.malformedResponse, .connectionLost]),
            (.garbage([]), [.connectionLost, .malformedResponse]),
        ])
    func noResponse(adapter: TransportAdapter, of case: (OriginReply.Delivery, [TransportError.Code])) async throws {
        let (delivery, codes) = `case`
        let error = await outcome { try await adapter.response(to: OriginReply.ok("x".utf8).delivered(delivery)) }
        #expect(codes.contains(try #require(error).code), "\(error.debugDescription)")
    }

    @Test("A connection that is reset in the middle of a body", arguments: TransportAdapter.allCases)
    func reset(adapter: TransportAdapter) async throws {
        let reply = OriginReply.ok(Self.body).delivered(.resetting(afterBytes: 1000))
        // The reset may overtake the head.
        #expect(await outcome { try await adapter.response(to: reply) } != nil)
    }

    @Test(
        "The idle timeout ends an exchange with a silent origin", arguments: TransportAdapter.allCases, [-1, 0, 1000])
    func stall(adapter: TransportAdapter, afterBytes: Int) async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            if afterBytes < 0 { await gate.wait() }
            return OriginReply.ok(Self.body).delivered(.stalling(afterBytes: max(afterBytes, 0)))
        }
        let transport = adapter.make(idleTimeout: 1)
        let error = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(error?.code == .timedOut)
        gate.open()
        await origin.stop()
    }

    @Test("A port without a listener", arguments: TransportAdapter.allCases)
    func refused(adapter: TransportAdapter) async throws {
        let port = ClosedPort()
        let request = HTTPRequest(method: .get, scheme: "http", authority: port.authority, path: "/")
        let error = await outcome { try await adapter.make().send(request, content: nil) }
        #expect(error?.code == .cannotConnect, "\(error.debugDescription)")
    }

    @Test("A host without an address", arguments: TransportAdapter.allCases)
    func noAddress(adapter: TransportAdapter) async throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "no-such-host.invalid", path: "/")
        let error = await outcome { try await adapter.make().send(request, content: nil) }
        #expect(error?.code == .cannotFindHost, "\(error.debugDescription)")
    }

    @Test(
        "Cancelling the task ends an exchange immediately, before and after the head",
        arguments: TransportAdapter.allCases, [false, true])
    func cancellation(adapter: TransportAdapter, afterHead: Bool) async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            if !afterHead { await gate.wait() }
            return OriginReply.ok(Self.body).delivered(.stalling(afterBytes: 10))
        }
        let reachedBody = Gate()
        let task = Task {
            await outcome {
                var response = try await adapter.make().send(.to(origin), content: nil)
                let body = response.body
                response.body = TransportBody { () async throws(TransportError) in
                    let chunk = try await body.next()
                    reachedBody.open()
                    return chunk
                }
                return response
            }
        }
        if afterHead { await reachedBody.wait() } else { await gate.reached(1) }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        gate.open()
        await origin.stop()
    }

    @Test("Releasing a body ends its exchange", arguments: TransportAdapter.allCases)
    func drop(adapter: TransportAdapter) async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok(Self.body).delivered(
                .paced(bytes: 1000) { index in
                    // Passes when the client has disconnected, which cancels the reply's task.
                    if index == 1 {
                        await withTaskCancellationHandler {
                            await Gate().wait()
                        } onCancel: {
                            gate.open()
                        }
                    }
                })
        }
        let transport = adapter.make()
        do {
            let response = try await transport.send(.to(origin), content: nil)
            _ = try await response.body.next()
        }
        await gate.wait()
        await origin.stop()
    }
}
