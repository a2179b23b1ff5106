internal import Synchronization

/// The requests and the counters of an origin.
final class RequestLog: Sendable {
    private struct State {
        var requests: [OriginRequest] = []
        var counters = OriginCounters()
    }

    /// Guards the list and the counters, which the event loops and tasks of all connections write.
    private let state = Mutex(State())

    var requests: [OriginRequest] { state.withLock { $0.requests } }
    var requestCount: Int { state.withLock { $0.requests.count } }
    var counters: OriginCounters { state.withLock { $0.counters } }

    /// Records `request` and assigns its serial number.
    func record(_ request: inout OriginRequest) {
        state.withLock { state in
            state.counters.requests += 1
            request.serial = state.counters.requests
            state.requests.append(request)
        }
    }

    func recordNotModified() {
        state.withLock { $0.counters.notModified += 1 }
    }

    func recordBody(bytes: Int) {
        state.withLock { $0.counters.bodyBytes += bytes }
    }

    func resetRequests() {
        state.withLock { $0.requests.removeAll() }
    }
}
