import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@Suite("LeasedResource", .timeLimit(.minutes(5)))
struct LeasedResourceTests {
    private let request = ResourceRequest("https://example.com/a")

    private func states(_ resource: LeasedResource<Data>, _ count: Int) -> Task<[ResourceState<String>], Never> {
        let states = resource.states()
        return Task {
            await states.prefix(count).reduce(into: []) {
                $0.append($1.map { String(decoding: $0.value, as: UTF8.self) })
            }
        }
    }

    @Test("E7: two users, one request; the value stays when both are done")
    func shared() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "no-store"], "body")
        }
        let fixture = try LoaderFixture(transport: transport)
        let resource = LeasedResource(request, loader: fixture.loader)
        let log = states(resource, 3)
        #expect(resource.leases == 0)
        resource.acquire()
        resource.acquire()
        await gate.reached(1)
        try resource.release()
        #expect(resource.state.isLoading)
        gate.open()
        #expect(await log.value == [.idle, .loading(prior: nil), .loaded("body")])
        try resource.release()
        #expect(resource.leases == 0)
        #expect(resource.value == Data("body".utf8))
        resource.acquire()
        #expect(resource.value == Data("body".utf8))
        #expect(transport.requestCount == 1)
    }

    @Test("E7, E5: the last release stops the transfer; acquired again, it starts again")
    func stopped() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            await gate.wait()
            if Task.isCancelled { throw TransportError(.cancelled) }
            return .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        let fixture = try LoaderFixture(transport: transport)
        let resource = LeasedResource(request, loader: fixture.loader)
        let log = states(resource, 5)
        resource.acquire()
        resource.acquire()
        await gate.reached(1)
        try resource.release()
        #expect(resource.state.isLoading)
        try resource.release()
        #expect(resource.state.map(\.value) == .cancelled(prior: nil))
        // The transport has seen the cancellation: nobody is held any more.
        while gate.waiters > 0 { await Task.yield() }
        while try fixture.loader.isLoading(request) { await Task.yield() }
        #expect(try !fixture.loader.contains(request))
        gate.open()
        resource.acquire()
        #expect(
            await log.value == [
                .idle, .loading(prior: nil), .cancelled(prior: nil), .loading(prior: nil), .loaded("body"),
            ])
        #expect(transport.requestCount == 2)
    }

    @Test("E7: after a failure the next to acquire starts again, also while another still holds it")
    func failed() async throws {
        let script = ReplyScript(.status(503), .ok("body".utf8))
        let fixture = try LoaderFixture(transport: script.transport)
        let resource = LeasedResource(request, loader: fixture.loader)
        let failure = states(resource, 3)
        resource.acquire()
        #expect(
            await failure.value.map(\.brief) == [
                .idle, .loading(prior: nil), .failed(.status(503, url: request.url), prior: nil),
            ])
        let success = states(resource, 3)
        resource.acquire()
        #expect(resource.leases == 2)
        #expect(await success.value.last == .loaded("body"))
    }

    @Test("E7: a release too many is an error, and changes nothing")
    func unbalanced() async throws {
        let fixture = try LoaderFixture(transport: ReplyScript(.ok("body".utf8)).transport)
        let resource = LeasedResource(request, loader: fixture.loader)
        #expect(throws: LeaseError.notAcquired) { try resource.release() }
        #expect(resource.state.map(\.value) == .idle)
        let log = states(resource, 3)
        resource.acquire()
        _ = await log.value
        try resource.release()
        #expect(throws: LeaseError.notAcquired) { try resource.release() }
        #expect(resource.leases == 0)
        #expect(resource.value == Data("body".utf8))
    }

    @Test("E7: a resource that goes lets go of its load, and ends its states")
    func deinitialisation() async throws {
        let script = LoadScript()
        var resource: LeasedResource? = LeasedResource(ResourceRequest("a"), begin: { script.begin($0) })
        let states = try #require(resource?.states())
        resource?.acquire()
        while script.begun.isEmpty { await Task.yield() }
        resource = nil
        await script.hasStopped(0)
        let log = await states.reduce(into: []) { $0.append($1.map(\.value)) }
        #expect(log == [.idle, .loading(prior: nil)])
    }
}
