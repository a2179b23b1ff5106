import TestSupport

/// An engine on loopback. Keeps objects in memory, speaks real HTTP, and lets a test damage the objects and set the
/// time.
final class ObjectServer: Sendable {
    struct Object: Sendable {
        var bytes: [UInt8]
        var lastModified: Int
    }

    private struct State {
        var objects: [String: Object] = [:]
        var time = 1_700_000_000
        var ignoresConditions = false
        var fault: (@Sendable (OriginRequest) async -> OriginReply?)?
    }

    /// Guards the objects, the time and the fault.
    private let state: Mutex<State>
    private let server: Mutex<LoopbackOrigin?>

    init() async throws {
        state = Mutex(State())
        server = Mutex(nil)
        let started = try await LoopbackOrigin(date: { [weak self] in
            self.map { OriginDate.text(secondsSince1970: $0.time) }
        }) {
            [weak self] request in
            await self?.reply(to: request) ?? .status(.serviceUnavailable)
        }
        server.withLock { $0 = started }
    }

    var url: String { server.withLock { $0?.url("/tier") } ?? "" }

    /// The current time of the engine, in seconds since 1970.
    var time: Int {
        get { state.withLock { $0.time } }
        set { state.withLock { $0.time = newValue } }
    }

    /// The objects by name.
    var objects: [String: Object] {
        get { state.withLock { $0.objects } }
        set { state.withLock { $0.objects = newValue } }
    }

    /// Changes the bytes of an object.
    func change(_ name: String, _ change: (inout [UInt8]) -> Void) {
        state.withLock { state in
            guard var object = state.objects[name] else { return }
            change(&object.bytes)
            state.objects[name] = object
        }
    }

    var requests: [OriginRequest] { server.withLock { $0?.requests ?? [] } }

    /// Returns the names of the objects in a folder.
    func names(_ folder: String) -> [String] { objects.keys.filter { $0.contains("/v2/\(folder)/") }.sorted() }

    /// Whether a conditional `PUT` replaces an object, as with nginx.
    var ignoresConditions: Bool {
        get { state.withLock { $0.ignoresConditions } }
        set { state.withLock { $0.ignoresConditions = newValue } }
    }

    /// Returns a reply that replaces the engine's, or `nil` for the normal reply.
    func setFault(_ fault: (@Sendable (OriginRequest) async -> OriginReply?)?) { state.withLock { $0.fault = fault } }

    private func reply(to request: OriginRequest) async -> OriginReply {
        if let fault = state.withLock({ $0.fault }), let reply = await fault(request) { return reply }
        return state.withLock { state in
            switch request.method {
            case .put:
                let isConditional = request.fields[.ifNoneMatch] == "*" && !state.ignoresConditions
                if isConditional, state.objects[request.path] != nil { return .status(.preconditionFailed) }
                state.objects[request.path] = Object(bytes: request.body, lastModified: state.time)
                return .status(.created)
            case .delete:
                state.objects[request.path] = nil
                return .status(.noContent)
            default:
                guard let object = state.objects[request.path] else { return .status(.notFound) }
                return OriginReply(
                    fields: [.lastModified: OriginDate.text(secondsSince1970: object.lastModified)],
                    body: object.bytes)
            }
        }
    }
}
