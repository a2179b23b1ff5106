/// An origin that holds each path until a test releases it, and reports the number of held requests.
package final class HeldOrigin: Sendable {
    private struct State {
        var gates: [String: Gate] = [:]
        var begun: [String] = []
        var inFlight = 0
        var most = 0
    }

    /// Guards the requests that have begun.
    private let state = Mutex(State())

    package init() {}

    /// The requested paths, in order.
    package var begun: [String] { state.withLock { $0.begun } }

    /// The highest number of concurrent requests.
    package var most: Int { state.withLock { $0.most } }

    /// Holds the requests for a path.
    package func gate(_ path: String) -> Gate {
        state.withLock { state in
            let gate = state.gates[path] ?? Gate()
            state.gates[path] = gate
            return gate
        }
    }

    package func open(_ paths: String...) { for path in paths { gate(path).open() } }

    /// Returns once a path was requested this many times.
    package func asked(_ path: String, _ count: Int = 1) async { await gate(path).reached(count) }

    /// Answers with the path; the answer may be stored.
    package var transport: ScriptedTransport {
        ScriptedTransport { request, _ in
            let path = request.path ?? ""
            self.state.withLock { state in
                state.begun.append(path)
                state.inFlight += 1
                state.most = max(state.most, state.inFlight)
            }
            await self.gate(path).wait()
            self.state.withLock { $0.inFlight -= 1 }
            return .reply(200, [.cacheControl: "max-age=60"], path)
        }
    }
}
