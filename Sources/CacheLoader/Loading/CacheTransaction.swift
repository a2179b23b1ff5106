internal import CacheStore
internal import HTTPTypes
internal import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One request on its way through the cache: decided, then answered from the store or forwarded, then its reply decided and
/// committed.
///
/// What to do is decided by ``CacheDecision`` and ``ReplyDecision``, which are pure; here it is done.
struct CacheTransaction: Sendable {
    private let request: HTTPRequest
    private let content: RequestContent?
    private let store: ResponseStore
    private let transport: any HTTPTransport
    private let configuration: HTTPCache.Configuration
    private let policy: CachePolicy
    private let keepsErrors: Bool
    private let key: CacheKey
    private let target: CacheKey

    /// - Parameters:
    ///   - key: What the response is kept under.
    ///   - target: The URL of the request, if the response is kept under something else.
    ///   - policy: Takes the place of the configured one.
    ///   - keepsErrors: Whether error responses are stored, as RFC 9111 §3 allows.
    init(
        _ request: HTTPRequest, content: RequestContent? = nil, key: CacheKey, target: CacheKey? = nil,
        store: ResponseStore,
        transport: any HTTPTransport,
        configuration: HTTPCache.Configuration, policy: CachePolicy? = nil, keepsErrors: Bool = true
    ) {
        self.request = transport.prepare(request)
        self.content = content
        self.store = store
        self.transport = transport
        self.configuration = configuration
        self.policy = policy ?? configuration.policy
        self.keepsErrors = keepsErrors
        self.key = key
        self.target = target ?? key
    }

    var now: HTTPDate { HTTPDate(configuration.clock()) }

    private var url: String { target.text }

    // MARK: Deciding

    /// A successful answer from the store, if it needs no network; runs on the caller's thread and waits for nothing.
    func contentFromStore() throws(LoadError) -> CachedResponse? {
        guard case .answer(let response, let entry) = try decide(), response.head.status.kind == .successful else {
            return nil
        }
        store.touch(entry, as: response.isStale ? .stale : .hit)
        return response
    }

    /// The answer, wherever it has to come from.
    func answer() async throws(LoadError) -> CachedResponse {
        switch try decide() {
        case .answer(let response, let entry):
            store.touch(entry, as: response.isStale ? .stale : .hit)
            return response
        case .forward(let request, let stored, let nominated):
            return try await forward(request, stored: stored, nominated: nominated)
        }
    }

    /// The answer of the origin, whatever is stored.
    func answerFromOrigin() async throws(LoadError) -> CachedResponse {
        try await forward(request, stored: Stored(), nominated: nil)
    }

    /// Whether the origin must not be asked: the policy says so, or the request with `only-if-cached`.
    var forbidsNetwork: Bool { RequestDirectives(request, mode: policy.mode).onlyIfCached }

    /// What is stored for the key, as the store and as HTTP see it.
    private struct Stored {
        var entries: [StoredEntry] = []
        var responses: [StoredResponse] = []
    }

    /// A stored response that the origin is asked about, with its body held open: an eviction meanwhile does no harm.
    private struct Nominated {
        let index: Int
        let body: StoredBody
    }

    private enum Step {
        case answer(CachedResponse, StoredEntry)
        case forward(HTTPRequest, stored: Stored, nominated: Nominated?)
    }

    /// Decides again without a stored response whose body turns out to be gone.
    private func decide() throws(LoadError) -> Step {
        var stored = lookup()
        while true {
            let decision = CacheDecision.make(
                request: request, candidates: stored.responses, policy: policy, now: now, fingerprint: fingerprint)
            switch decision {
            case .hit(let index, let age, let isStale):
                if let body = open(stored.entries[index]) {
                    let response = stored.responses[index]
                    return .answer(
                        answer(response, body, source: .disk, age: age, isStale: isStale), stored.entries[index])
                }
                stored.responses[index].hasIntactBody = false
            case .validate(let index, let conditional, _):
                if let body = open(stored.entries[index]) {
                    return .forward(conditional, stored: stored, nominated: Nominated(index: index, body: body))
                }
                stored.responses[index].hasIntactBody = false
            case .forward:
                return .forward(request, stored: stored, nominated: nil)
            case .unsatisfiable:
                throw .notCached(url: url)
            }
        }
    }

    /// A store that cannot be read is an empty one.
    private func lookup() -> Stored {
        do throws(StoreError) {
            let entries = try store.responses(for: key)
            return Stored(entries: entries, responses: entries.map(EntryCodec.response))
        } catch {
            log("could not look up a response", error)
            return Stored()
        }
    }

    /// The body of an entry; `nil` if it is gone or cannot be read, which is a miss.
    private func open(_ entry: StoredEntry) -> StoredBody? {
        do throws(StoreError) {
            return try store.openBody(of: entry)
        } catch {
            log("could not open a stored body", error)
            return nil
        }
    }

    /// Stands for a credential that `Vary` nominates: tells values apart without keeping them. The URL in it makes tables
    /// of known digests useless.
    private var fingerprint: (_ name: String, _ value: String) -> String {
        { name, value in
            Array("\(url)\n\(name)\n\(value)".utf8).withUnsafeBytes { "sha256-\(ContentDigest(of: $0))" }
        }
    }

    // MARK: Forwarding

    /// When a request went out and its response came in.
    private struct Times {
        let requested: Date
        let received: Date
    }

    private func forward(
        _ request: HTTPRequest, stored: Stored, nominated: Nominated?
    ) async throws(LoadError) -> CachedResponse {
        var generation = generation()
        let requested = configuration.clock()
        let reply = try await send(request)
        let times = Times(requested: requested, received: configuration.clock())
        // What this request invalidates itself does not stand in its own way.
        if await invalidate(after: reply.head.status) { generation = self.generation() }
        let exchange = Exchange(
            request: request, reply: reply.head, requestTime: HTTPDate(times.requested),
            responseTime: HTTPDate(times.received), isBodyDecoded: reply.isBodyDecoded)
        let decision = ReplyDecision.make(
            exchange, candidates: stored.responses, validated: nominated?.index, policy: policy,
            fingerprint: fingerprint)
        switch decision {
        case .freshen(let updates, let index, let removesAfterUse):
            guard let nominated, nominated.index == index else { break }
            // The body of a 304 is empty; read to its end, the connection can be used again.
            _ = try? await reply.body.next()
            for (number, response) in updates {
                await freshen(stored.entries[number], response, times, removesAfterUse)
            }
            // One request was answered, however many responses the 304 is about.
            if !removesAfterUse { store.touch(stored.entries[index], as: .revalidated) }
            let response = updates[index] ?? stored.responses[index]
            let age = Freshness(of: response, policy: policy).age(at: now)
            return answer(response, nominated.body, source: .notModified, age: age, isStale: false)
        case .store(let response) where keepsErrors || response.status.code < 400:
            count(reply.head.status)
            return passThrough(reply, storing: response, times, generation)
        case .store:
            count(reply.head.status)
            return passThrough(reply, generation)
        case .relay(let removesStored):
            if removesStored {
                await remove()
                generation = self.generation()
            }
            count(reply.head.status)
            return passThrough(reply, generation)
        case .retryUnconditionally:
            break
        }
        guard nominated != nil else {
            let failure = TransportError(.malformedResponse, message: "304 in answer to a request without a condition")
            throw .transport(failure, url: url)
        }
        // RFC 9111 §4.3.3 leaves nothing to answer with: ask once more, for the whole representation.
        return try await forward(self.request, stored: Stored(), nominated: nil)
    }

    private func send(_ request: HTTPRequest) async throws(LoadError) -> TransportResponse {
        do throws(TransportError) {
            return try await transport.send(request, content: content?.forSending())
        } catch {
            store.countError(for: target)
            throw LoadError(error, url: url)
        }
    }

    /// Where the removals from the store stand; `nil`, which nothing is refused for, if the store cannot be asked.
    private func generation() -> StoreGeneration? {
        try? store.generation()
    }

    private func count(_ status: HTTPResponse.Status) {
        if status.code < 400 { store.countMiss(for: target) } else { store.countError(for: target) }
    }

    // MARK: Committing

    private func freshen(_ entry: StoredEntry, _ response: StoredResponse, _ times: Times, _ removes: Bool) async {
        do throws(StoreError) {
            if removes {
                try await store.remove(entry)
            } else {
                try await store.freshen(entry, with: metadata(of: response, times))
            }
        } catch {
            log("could not freshen a response", error)
        }
    }

    /// RFC 9111 §4.4: after a success of an unsafe method, what is stored for its target is out of date, and so is what is on
    /// its way.
    ///
    /// - Returns: Whether it was such a success.
    private func invalidate(after status: HTTPResponse.Status) async -> Bool {
        guard !request.method.isSafe, (200..<400).contains(status.code) else { return false }
        await remove()
        return true
    }

    private func remove() async {
        do throws(StoreError) {
            try await store.remove(key)
        } catch {
            log("could not remove a response", error)
        }
    }

    /// Counts an error of the origin; the last good content stays.
    func recordFailure(_ response: CachedResponse) async {
        do throws(StoreError) {
            try await store.recordFailure(
                for: key, status: response.head.status.code, unlessRemovedSince: response.generation)
        } catch {
            log("could not count a failure", error)
        }
    }

    /// What the store is to know of a 200 with these fields, if the origin sent it now.
    ///
    /// - Throws: ``LoadError/notStorable(url:)`` if it could not be stored.
    func metadata(ofContentWith fields: HTTPFields) throws(LoadError) -> EntryMetadata {
        let now = configuration.clock()
        let exchange = Exchange(
            request: request, reply: HTTPResponse(status: .ok, headerFields: fields), requestTime: HTTPDate(now),
            responseTime: HTTPDate(now))
        let decision = ReplyDecision.make(
            exchange, candidates: [], validated: nil, policy: policy, fingerprint: fingerprint)
        guard case .store(let response) = decision else { throw .notStorable(url: url) }
        return metadata(of: response, Times(requested: now, received: now))
    }

    private func metadata(of response: StoredResponse, _ times: Times) -> EntryMetadata {
        var metadata = EntryCodec.metadata(
            of: response, policy: policy, requestedAt: times.requested, receivedAt: times.received)
        // Where the key does not say it.
        if key != target { metadata.url = url }
        return metadata
    }

    // MARK: Delivering

    private func answer(
        _ response: StoredResponse, _ body: StoredBody, source: ResponseSource, age: Int64, isStale: Bool
    ) -> CachedResponse {
        CachedResponse(
            head: response.head(age: source == .notModified ? nil : age),
            body: request.method == .head ? .empty : ResponseBody(body), source: source, age: age,
            isStale: isStale, expiresAt: Freshness(of: response, policy: policy).expiry.map(Date.init), failure: nil,
            collect: { () async throws(LoadError) in
                do throws(StoreError) {
                    return try body.data()
                } catch {
                    throw .store(error)
                }
            })
    }

    private func passThrough(_ reply: TransportResponse, _ generation: StoreGeneration?) -> CachedResponse {
        passThrough(reply, freshness: nil, storing: nil, generation)
    }

    private func passThrough(
        _ reply: TransportResponse, storing response: StoredResponse, _ times: Times, _ generation: StoreGeneration?
    ) -> CachedResponse {
        let freshness = Freshness(of: response, policy: policy)
        guard fitsIntoStore(reply.head) else {
            return passThrough(reply, freshness: freshness, storing: nil, generation)
        }
        let metadata = metadata(of: response, times)
        let storing = ForwardedBody.Storing(writer: store.makeBodyWriter()) { [key] (writer) async throws(StoreError) in
            try await writer.commit(metadata, for: key, unlessRemovedSince: generation)
        }
        return passThrough(reply, freshness: freshness, storing: storing, generation)
    }

    /// Whether a body of the announced length could be kept; one without a length is tried.
    private func fitsIntoStore(_ head: HTTPResponse) -> Bool {
        guard let limit = store.configuration.limits?.maxEntryBytes,
            let length = head.headerFields[.contentLength].flatMap({ Int64($0) })
        else { return true }
        return length <= limit
    }

    private func passThrough(
        _ reply: TransportResponse, freshness: Freshness?, storing: ForwardedBody.Storing?,
        _ generation: StoreGeneration?
    ) -> CachedResponse {
        let body = ForwardedBody(
            url: url, source: reply.body, storing: storing, limit: configuration.maxBodyBytes,
            logger: configuration.logger)
        return CachedResponse(
            head: reply.head, body: ResponseBody { () async throws(LoadError) in try await body.next() },
            source: .network, age: freshness?.age(at: now) ?? 0, isStale: false,
            expiresAt: freshness?.expiry.map(Date.init), failure: nil, generation: generation,
            collect: { () async throws(LoadError) in try await body.collect() })
    }

    func log(_ message: Logger.Message, _ error: StoreError) {
        configuration.logger.warning(message, metadata: ["url": "\(url)", "error": "\(error)"])
    }
}

extension HTTPRequest.Method {
    /// RFC 9110 §9.2.1; what is unknown is not safe.
    fileprivate var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }
}
