import CacheTier
import TestSupport

/// Machines without stores on one engine in memory, with one clock for the engine and the origin.
final class MemoryFleet: Sendable {
    typealias Reply = @Sendable (_ request: HTTPRequest, _ serial: Int) throws(TransportError) -> TransportResponse

    let engine: InMemoryEngine
    let origin: MemoryOrigin
    let clock: ManualClock

    init(hasConditionalWrites: Bool = true, deadline: Duration = .seconds(120), _ reply: @escaping Reply) {
        let clock = ManualClock(Date(timeIntervalSince1970: 1_700_000_000))
        self.clock = clock
        engine = InMemoryEngine(deadline: deadline, hasConditionalWrites: hasConditionalWrites, clock: clock.date)
        origin = MemoryOrigin(clock, reply)
    }

    /// A new machine, which knows nothing of the engine. Its uptime stands still, and removals reach it immediately.
    func machine(
        keys: TierKeys? = nil, _ change: (inout SharedTier.Configuration) -> Void = { _ in }
    ) throws -> MemoryMachine {
        var configuration = SharedTier.Configuration()
        configuration.writeDeadline = .seconds(120)
        configuration.bodyDeadline = .seconds(120)
        configuration.removalDelay = .zero
        configuration.uptime = { .zero }
        change(&configuration)
        let tier = SharedTier(engine: engine, keys: try keys ?? Machine.keys(), configuration: configuration)
        return MemoryMachine(tier: tier, transport: TieredTransport(tier: tier, origin: origin))
    }

    /// The numbers of requests to the engine since the last call.
    func takeRequests() -> (gets: Int, puts: Int, byteCount: Int) {
        let requests = engine.requests
        engine.removeRequests()
        return (
            requests.count { $0.operation == .get }, requests.count { $0.operation == .put },
            requests.map(\.byteCount).reduce(0, +)
        )
    }
}

/// An origin in memory, which counts its requests and states its time.
final class MemoryOrigin: HTTPTransport {
    private let clock: ManualClock
    private let reply: MemoryFleet.Reply
    private let received = Mutex<[HTTPRequest]>([])

    init(_ clock: ManualClock, _ reply: @escaping MemoryFleet.Reply) {
        self.clock = clock
        self.reply = reply
    }

    var requests: [HTTPRequest] { received.withLock { $0 } }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let serial = received.withLock { requests in
            requests.append(request)
            return requests.count
        }
        var response = try reply(request, serial)
        if !response.head.headerFields.contains(.date) {
            let seconds = Int(clock.date().timeIntervalSince1970)
            response.head.headerFields[.date] = OriginDate.text(secondsSince1970: seconds)
        }
        return response
    }
}

/// A machine without a store.
struct MemoryMachine {
    let tier: SharedTier
    let transport: TieredTransport

    /// Requests a path, reads the body, and waits for the tier's writes.
    @discardableResult
    func send(
        _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, host: String = "example.com"
    ) async throws -> (status: Int, fields: HTTPFields, body: String) {
        let request = HTTPRequest(method: method, scheme: "https", authority: host, path: path, headerFields: fields)
        let response = try await transport.send(request, content: nil)
        var body = Data()
        while let chunk = try await response.body.next() { body += chunk }
        await tier.waitForWrites(within: .seconds(100))
        return (response.head.status.code, response.head.headerFields, String(decoding: body, as: UTF8.self))
    }
}
