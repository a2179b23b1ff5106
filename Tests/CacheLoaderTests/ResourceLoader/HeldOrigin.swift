import CacheLoader
import CacheStoreTesting
import HTTPTypes
import Synchronization
import TestSupport

/// An origin that answers each path when a test lets it, and tells how many wait for that.
final class HeldOrigin: Sendable {
    private struct State {
        var gates: [String: Gate] = [:]
        var begun: [String] = []
        var inFlight = 0
        var most = 0
    }

    /// Guards what has begun.
    private let state = Mutex(State())

    /// The paths that were asked for, in order.
    var begun: [String] { state.withLock { $0.begun } }

    /// How many there were at a time, at most.
    var most: Int { state.withLock { $0.most } }

    /// Holds the requests for a path.
    func gate(_ path: String) -> Gate {
        state.withLock { state in
            let gate = state.gates[path] ?? Gate()
            state.gates[path] = gate
            return gate
        }
    }

    func open(_ paths: String...) { for path in paths { gate(path).open() } }

    /// Returns once a path was asked for so many times.
    func asked(_ path: String, _ count: Int = 1) async { await gate(path).reached(count) }

    /// Answers with the path, which may be stored.
    var transport: ScriptedTransport {
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
