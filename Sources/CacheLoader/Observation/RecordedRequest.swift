internal import CacheFoundation
internal import CacheStore
internal import Synchronization

/// A request that the store records: collects the facts, and records them once. Records at the end of the body, or when
/// the last reference is released. Does not record a request without an outcome: it was cancelled, or only asked
/// whether the store has an answer.
final class RecordedRequest: Sendable {
    private struct State {
        var record: RequestRecord
        var hasOutcome = false
        /// Whether the body has ended, or the response has no body.
        var hasEnded = false
        var isRecorded = false

        /// Returns the record, the first time that it is complete.
        mutating func take(isReleased: Bool = false) -> RequestRecord? {
            guard hasOutcome, hasEnded || isReleased, !isRecorded else { return nil }
            isRecorded = true
            return record
        }
    }

    private let recorder: RequestRecorder
    private let beginning: UInt64
    private let clock: @Sendable () -> Date
    /// Guards the facts. The recorder is called outside.
    private let state: Mutex<State>

    /// Begins a record, if the store records requests.
    init?(
        _ method: HTTPRequest.Method, key: CacheKey, target: CacheKey, in store: ResponseStore,
        clock: @escaping @Sendable () -> Date
    ) {
        guard let beginning = store.requests.beginning else { return nil }
        self.beginning = beginning
        self.clock = clock
        recorder = store.requests
        state = Mutex(
            State(
                record: RequestRecord(
                    startedAt: clock(), method: method.rawValue, target: target, key: key, outcome: .error)))
    }

    deinit {
        // Most requests are recorded already, at the end of the body.
        if !state.withLock({ $0.isRecorded }) { change(isReleased: true) { _, _ in } }
    }

    // MARK: Facts

    /// Records that the cache itself makes the request.
    func noteBackground() { state.withLock { $0.record.isBackground = true } }

    /// Records the outcome. A later outcome replaces it: a stale response may answer after an error.
    func note(_ outcome: RequestOutcome, status: HTTPResponse.Status? = nil) {
        change { state, passed in
            state.hasOutcome = true
            state.record.outcome = outcome
            state.record.status = status?.code ?? state.record.status
            state.record.latency = passed
        }
    }

    func noteForward(_ reason: ForwardReason) {
        state.withLock { $0.record.forwardCode = RequestRecord.code(of: reason) }
    }

    func noteReply(_ action: RecordedReplyDecision.Action, _ rule: Rule) {
        state.withLock { $0.record.replyCode = RecordedReplyDecision.code(action, rule) }
    }

    /// Records an error unless the request has an outcome.
    func noteFailure(status: HTTPResponse.Status) {
        change { state, passed in
            state.record.status = status.code
            guard !state.hasOutcome else { return }
            state.hasOutcome = true
            state.record.latency = passed
        }
    }

    /// Records the response that the caller gets.
    func noteResponse(_ status: HTTPResponse.Status, byteCount: Int64?, hasEnded: Bool = false) {
        state.withLock { state in
            state.record.status = status.code
            state.record.contentByteCount = byteCount
        }
        if hasEnded { end() }
    }

    func addDiskBytes(_ count: Int) { state.withLock { $0.record.diskByteCount += Int64(count) } }

    func addNetworkBytes(_ count: Int) { state.withLock { $0.record.networkByteCount += Int64(count) } }

    func end() {
        change { state, _ in state.hasEnded = true }
    }

    /// Changes the facts, and records the request once the facts are complete.
    private func change(isReleased: Bool = false, _ body: (inout State, _ passed: Duration) -> Void) {
        let now = clock()
        let complete = state.withLock { state -> RequestRecord? in
            // A clock may be set back.
            let passed = Duration.seconds(min(max(0, now.timeIntervalSince(state.record.startedAt)), 9e9))
            body(&state, passed)
            state.record.duration = passed
            return state.take(isReleased: isReleased)
        }
        if let complete { recorder.add(complete, since: beginning) }
    }
}
