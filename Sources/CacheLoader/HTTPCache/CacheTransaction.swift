internal import CacheFoundation
internal import CacheStore
internal import Logging

/// A stored response that was chosen for a request.
protocol ChosenResponse: Sendable {
    var response: StoredResponse { get }
}

/// Carries one request through the cache. Decides about the request, then answers from the store or forwards it. After
/// a forward, decides about the reply and commits it. ``ReuseDecision`` and ``ReplyDecision`` decide and are pure; this
/// type acts on their decisions.
struct CacheTransaction: Sendable {
    /// The request under which its response is stored. A QUERY, or a POST whose content is in its key, becomes a GET of
    /// its equivalent resource (RFC 10008 §2.2).
    var request: HTTPRequest
    /// The method that the origin gets.
    let method: HTTPRequest.Method
    let content: RequestContent?
    let context: CacheContext
    let settings: CacheSettings
    var policy: CachePolicy
    let keepsErrors: Bool
    /// Only responses with these content types are stored. `nil` stores all.
    let contentTypeFilter: ContentTypeFilter?
    /// Receives each error of the store, on any thread.
    var onStoreFailure: (@Sendable (StoreError) -> Void)?
    /// Whether the transaction counts failures of the origin in the store. A loader counts them itself, after retries.
    var countsFailures = false
    /// Whether the request validates a stored response that its caller has already received.
    private(set) var isBackground = false
    /// Whether the request goes out with `no-cache`, so that no upstream cache answers without the origin (RFC 9111
    /// §5.2.1.4). The decisions of this cache do not depend on it.
    var bypassesUpstreamCaches = false
    /// Receives the interim responses to this request. `nil` ignores them.
    var interimResponses: InterimResponses?
    let key: CacheKey
    let target: CacheKey
    /// The record of the request, if the store records requests.
    var recorded: RecordedRequest?
    /// The state of the key in the index at an earlier decision about the request. Reused while it is current.
    var snapshot: KeySnapshot?

    /// `target` is the key of the request's URL, if it differs from `key`. A QUERY, or a request with content, whose
    /// keys are equal bypasses the store. `policy` includes the changes of the request. `keepsErrors` tells whether
    /// error responses are stored, as RFC 9111 §3 allows.
    init(
        _ request: HTTPRequest, content: RequestContent? = nil, key: CacheKey, target: CacheKey? = nil,
        context: CacheContext, settings: CacheSettings, policy: CachePolicy, keepsErrors: Bool = true,
        contentTypeFilter: ContentTypeFilter? = nil, isBackground: Bool = false, snapshot: KeySnapshot? = nil
    ) {
        // The transport adds its fields first: `Vary` is matched with the request as sent (RFC 9111 §4.1).
        self.request = context.transport.prepare(request)
        method = request.method
        if [.query, .post].contains(method), let target, target != key { self.request.method = .get }
        self.content = content
        self.context = context
        self.settings = settings
        self.policy = policy
        self.keepsErrors = keepsErrors
        self.contentTypeFilter = contentTypeFilter
        self.key = key
        self.target = target ?? key
        self.snapshot = snapshot
        recorded = recordedRequest()
        if isBackground { continueInBackground() }
    }

    /// Lets the request validate a stored response that its caller has already received.
    mutating func continueInBackground() {
        isBackground = true
        recorded?.noteBackground()
    }

    var configuration: HTTPCache.Configuration { settings.configuration }
    var store: ResponseStore { context.store }
    var now: HTTPDate { HTTPDate(configuration.clock()) }
    var url: String { target.text }

    /// Whether the content of the request is not a part of its key.
    var hasForeignContent: Bool { content != nil && key == target }

    /// Whether the request bypasses the store, because its key does not include its content, which may affect the
    /// response. No stored response answers the request, and its response is not stored.
    var isOutsideStore: Bool { hasForeignContent && (request.method == .get || request.method == .head) }

    /// The stored responses for the key: as entries of the store and as HTTP responses, with equal indices.
    struct Stored {
        var entries: [StoredEntry] = []
        var responses: [StoredResponse] = []
        /// The state of the key in the index, if the store was readable.
        var snapshot: KeySnapshot?
    }

    /// A stored response to validate or complete at the origin. Its body stays open, so an eviction does no harm.
    struct Nominated {
        let question: ReplyDecision.Question
        let index: Int
        let body: StoredBody
    }

    /// A request for the origin.
    struct Forwarding {
        var request: HTTPRequest
        var stored = Stored()
        var nominated: Nominated?
        let reason: ForwardReason
        let rule: Rule

        /// Whether the store may have a response for the key. Else each reply with no-store would cause a write.
        var mayHaveStored: Bool { reason == .bypass || !stored.entries.isEmpty }
    }

    /// A stored response that answers.
    struct Answer: ChosenResponse {
        let response: StoredResponse
        let entry: StoredEntry
        let body: StoredBody
        let age: Int64
        /// The date at which the response becomes stale. `nil` for a response that always needs validation.
        let expiry: HTTPDate?
        let isStale: Bool
        let isRevalidated: Bool
        let rule: Rule
        /// The state of the key when the entry was chosen. `nil` after a validation.
        var found: KeySnapshot?
    }

    enum Step: Sendable {
        case answer(Answer)
        case forward(Forwarding)
        /// The decision depends on the body of this entry, which is too long for ``BodyReading/limit``.
        case deferred(StoredEntry)
    }

    // MARK: Answering

    /// Returns an answer from the store if it needs no network. Runs on the caller's thread and does not wait.
    func answerFromStore(_ reading: BodyReading = .unlimited) throws(LoadError) -> CachedResponse? {
        guard case .answer(let answer) = try decide(reading) else { return nil }
        return deliver(answer)
    }

    /// The first result for a request.
    enum Beginning: Sendable {
        case answered(CachedResponse)
        /// The request to forward, and the epoch of its key before the decision.
        case forwarded(Forwarding, Epoch)
        /// No answer yet; see ``Step/deferred(_:)``.
        case deferred(StoredEntry)
    }

    /// Returns the answer from the store, from an arriving response or from the origin.
    func answer() async throws(LoadError) -> CachedResponse {
        let beginning = try await begin()
        guard case .forwarded(let forwarding, let epoch) = beginning, mayShare(forwarding) else {
            return try await finish(beginning)
        }
        return try await share(forwarding, since: epoch)
    }

    /// Returns the answer of the origin, regardless of stored responses.
    func answerFromOrigin() async throws(LoadError) -> CachedResponse {
        try await forward(Forwarding(request: request, reason: .bypass, rule: .policyBypass))
    }

    /// Returns an answer from the store or from an arriving response; otherwise the request to forward. Never returns
    /// ``Beginning/deferred(_:)``, because another thread reads a long body.
    private func begin() async throws(LoadError) -> Beginning {
        var beginning = try begin(.short)
        while case .deferred(let entry) = beginning { beginning = try begin(await Self.verified(entry, in: store)) }
        return beginning
    }

    private func begin(_ reading: BodyReading) throws(LoadError) -> Beginning {
        while true {
            // Read the epoch first. If it is the same after the searches in the store and among arriving responses, no
            // response has moved from the second to the first.
            let epoch = context.coalescer.epoch(of: key)
            switch try decide(reading) {
            case .deferred(let entry): return .deferred(entry)
            case .answer(let answer): return .answered(deliver(answer))
            case .forward(let forwarding):
                guard mayShare(forwarding) else { return .forwarded(forwarding, epoch) }
                if let response = join(forwarding.reason) { return .answered(response) }
                if context.coalescer.epoch(of: key) == epoch { return .forwarded(forwarding, epoch) }
            }
        }
    }

    /// Waits for the in-flight request for the key, or sends this one. Waits again if the response can no longer
    /// answer, because its body was abandoned or it became stale. `epoch` is the epoch of the key before the decision
    /// to forward.
    private func share(_ forwarding: Forwarding, since epoch: Epoch) async throws(LoadError) -> CachedResponse {
        var (forwarding, epoch) = (forwarding, epoch)
        while true {
            let wait = beginStep()
            let (outcome, didSend) = await context.coalescer.join(key) {
                [forwarding, epoch] () async throws(LoadError) in
                let lock = await lockKey()
                if Task.isCancelled { throw .cancelled }
                // A request that ended after the decision, or the last holder of the lock, may have stored the answer.
                if lock == nil, context.coalescer.epoch(of: key) == epoch {
                    return try await forward(forwarding)
                }
                var again = self
                again.snapshot = forwarding.stored.snapshot
                return try await finish(try await again.begin(), lock)
            }
            if !didSend { endStep(wait, .wait(.sharedRequest)) }
            switch outcome {
            case .answered(let response): return response
            // The request that was sent has counted the error.
            case .failed(let error) where didSend: return try serveStale(for: error, forwarding)
            case .failed(let error): return try serveStaleOrCount(error, forwarding)
            // The body and the failure belong to the caller that sent the request.
            case .decideAgain where isBackground: throw .cancelled
            case .decideAgain(let response):
                if let failure = failureOfAll(response) {
                    do throws(LoadError) {
                        return try serveStale(for: failure, forwarding)
                    } catch {
                        // An error response itself answers only the caller that sent the request.
                        if case .transport = error {
                            noteError()
                            throw error
                        }
                    }
                }
                // The arriving body can be joined only while the response is held.
                defer { withExtendedLifetime(response) {} }
                let beginning = try await begin()
                guard case .forwarded(let again, let now) = beginning, couldAnswer(response), mayShare(again) else {
                    if response.isUncacheable { context.coalescer.noteUncacheable(key, at: self.now) }
                    return try await finish(beginning)
                }
                (forwarding, epoch) = (again, now)
            }
        }
    }

    /// Returns the failure of a shared request if it also applies to this request. A transport failure applies to all
    /// callers.
    private func failureOfAll(_ response: CachedResponse) -> LoadError? {
        switch response.failure {
        case .transport?: response.failure
        // An error status applies to callers with the same credentials. The result has no fields, because they may be
        // meant for the caller that sent the request.
        case .httpStatus(let error)? where response.failedRequest != nil && response.failedRequest == failureRequest:
            .httpStatus(OriginError(status: error.status, url: error.url))
        default: nil
        }
    }

    /// Whether the response to another request could have answered this one when its head arrived.
    private func couldAnswer(_ response: CachedResponse) -> Bool {
        guard let arriving = response.arriving, !arriving.body.isRefused else { return false }
        let reuse = ReuseDecision(
            for: request, candidates: [arriving.response], policy: policy, now: arriving.response.responseTime,
            fingerprint: fingerprint)
        if case .hit = reuse.action { return true }
        return false
    }

    private func finish(_ beginning: Beginning, _ lock: KeyLock? = nil) async throws(LoadError) -> CachedResponse {
        switch beginning {
        case .answered(let response): return response
        case .forwarded(let forwarding, _): return try await forward(forwarding, lock)
        case .deferred: preconditionFailure("a decision without a limit is not deferred")
        }
    }

    /// Locks the key, so that caches in other processes wait for this request. Waits while another process holds the
    /// lock. Returns `nil` when waiting is disabled, took too long or failed. The request then goes out without the
    /// lock.
    private func lockKey() async -> KeyLock? {
        let coalescer = context.coalescer
        // A process that has kept the lock for too long, such as a stopped one, must not delay every request for the
        // key.
        let limit = coalescer.isHung(key) ? .zero : configuration.processWait
        let wait = limit > .zero ? beginStep { store.keyLocks.isHeldElsewhere(key) } : nil
        defer { endStep(wait, .wait(.otherProcess)) }
        switch try? await store.lock(key, within: limit, sleep: configuration.sleep) {
        case .locked(let lock):
            coalescer.noteWait(key, succeeded: true, limit: limit)
            return lock
        case .heldElsewhere:
            if !Task.isCancelled { coalescer.noteWait(key, succeeded: false, limit: limit) }
            return nil
        case .heldHere, nil:
            return nil
        }
    }

    /// Whether the response to another request could answer this one.
    func mayShare(_ forwarding: Forwarding) -> Bool {
        guard request.method == .get, !hasForeignContent, policy.mode != .remoteOnly else { return false }
        if isBackground { return true }
        switch forwarding.reason {
        case .uriMiss, .varyMiss, .miss, .stale, .partial: break
        // The request itself demands the origin, for example with no-cache, so another response does not answer it.
        case .bypass, .method, .request: return false
        }
        let directives = RequestDirectives(request, mode: policy.mode)
        return !directives.noStore && !directives.noCache && !directives.hasRange && !directives.isConditional
            && !context.coalescer.isUncacheable(key, at: now)
    }

    /// Returns a successful answer from the store if it needs no network.
    func contentFromStore() throws(LoadError) -> CachedResponse? {
        guard case .answer(let answer) = try decide(), answer.response.status.kind == .successful else { return nil }
        return deliver(answer)
    }

    /// Whether the policy, or `only-if-cached` in the request, forbids a request to the origin.
    var forbidsNetwork: Bool { RequestDirectives(request, mode: policy.mode).onlyIfCached }

    func deliver(_ answer: Answer) -> CachedResponse {
        note(answer)
        if answer.isRevalidated { revalidateInBackground() }
        return response(from: answer)
    }

    /// Returns a digest in place of a credential. The digest distinguishes values without storing them. The key in the
    /// digest makes tables of known digests useless. Unlike the URL, the key stays when a signature in the URL changes.
    var fingerprint: (_ name: String, _ value: String) -> String { Self.fingerprint(under: key) }

    /// Returns the function that makes the fingerprints of responses that are stored under `key`.
    static func fingerprint(under key: CacheKey) -> (_ name: String, _ value: String) -> String {
        // Capture only the key: the closure outlives this call, and capturing the transaction retains many references.
        { name, value in
            Array("\(key.text)\n\(name)\n\(value)".utf8).withUnsafeBytes { "sha256-\(ContentDigest(of: $0))" }
        }
    }

    func log(_ message: Logger.Message, _ error: StoreError) {
        configuration.log(
            .errors, .warning, message, ["url": "\(LoggedURL(url))", "error": "\(error.logged)"])
        onStoreFailure?(error)
    }

    /// Runs an action on the store that the answer does not need. Logs its error.
    func logging(_ message: Logger.Message, _ body: () async throws(StoreError) -> Void) async {
        do throws(StoreError) {
            try await body()
        } catch {
            log(message, error)
        }
    }
}

extension CachedResponse {
    /// Whether the origin has answered with a response that no other request may share. An error of the origin does not
    /// predict its later responses.
    fileprivate var isUncacheable: Bool {
        source.isTransferred && arriving?.body.isRefused != false && status.code < 500
    }
}
