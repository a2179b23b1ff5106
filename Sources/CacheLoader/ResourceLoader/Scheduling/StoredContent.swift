internal import CacheCodings
internal import CacheFoundation
internal import CacheStore

/// Loads content from the store alone.
extension ResourceLoader {
    /// Returns a value of fresh stored content, or `nil` when the load needs the network. Neither blocks other loads
    /// nor waits for them. `load` receives the key of a response that was refused and removed.
    func loadFromStore(
        _ load: inout Load, _ plan: ProcessingPlan
    ) async throws(LoadError) -> (value: Loaded<any Sendable>, byteCount: Int, response: CachedResponse)? {
        guard load.isShareable, let (response, request) = try await contentFromStore(&load) else { return nil }
        let original = plan.form == nil ? nil : response.original(for: request.method)
        if let original, let value = await storedValue(plan, of: original, load) {
            let loaded = try Loaded(value, response, request.target, load.configuration)
            return (loaded, Int(clamping: original.byteCount), response)
        }
        let resource: Loaded<Data>
        do throws(LoadError) {
            resource = try await Loaded<Data>(response, request.target, load.settings)
        } catch .store, .malformedContent {
            // The stored body is unusable. The load asks the origin for another one.
            return nil
        }
        let value: any Sendable
        switch await make(plan, of: resource, in: response.file(of: resource)) {
        case .success(let made): value = made
        case .failure(let error):
            guard error.isRefusal, let refused = response.wholeEntry(for: request.method),
                mayAskOrigin(load, transaction(load, request))
            else { throw error }
            // Remove this entry only: its key may have other variants. The caller then asks the origin for the whole.
            await transaction(load, request).remove(refused)
            load.refused = request.target.key
            return nil
        }
        if let original { await plan.keep(value, of: original, in: store, load.configuration) }
        return (resource.with(value), resource.data.count, response)
    }

    /// Returns stored content, fresh or stale. Returns `nil` without content, or when its origin forbids serving it
    /// without validation.
    func loadStaleFromStore(_ load: Load) async -> LoadedResource? {
        guard load.mayBeStored, load.policy.mode != .remoteOnly else { return nil }
        var transaction = transaction(load)
        transaction.policy.mode = .cacheOnly
        guard let response = try? transaction.contentFromStore(),
            let resource = try? await Loaded<Data>(response, load.target, load.settings)
        else { return nil }
        return LoadedResource(resource, response, load.target, load.method)
    }

    /// Returns whether stored responses answer a load without the network. Records no access.
    func isAnsweredFromStore(_ load: Load) -> Bool {
        guard load.mayBeStored else { return false }
        return (try? freshSteps(load)) != nil
    }

    /// Returns whether conditions of the network can hold a load back. Returns `false` for a load whose result, even an
    /// error, needs no network. Records no access. In `conditions`, the waiter allows the load to wait.
    func isHoldable(_ load: Load, _ conditions: NetworkConditions) -> Bool {
        guard load.policy.mode != .cacheOnly else { return false }
        // Query the store only if something may hold the load back.
        let isLimited = !conditions.isEmpty || load.configuration.heldBack.values.contains { !$0.isEmpty }
        guard isLimited, load.mayBeStored, !load.isBackground else { return true }
        // An unsuccessful answer ends the search without content, but needs no network. Usable content never waits.
        var isAnswered = false
        _ = try? storedSteps(load) { (transaction) throws(LoadError) -> CacheTransaction.Answer? in
            isAnswered = false
            guard case .answer(let answer) = try transaction.decide(.short), !answer.isRevalidated else { return nil }
            isAnswered = answer.response.status.kind != .successful
            return answer
        }
        return !isAnswered
    }

    /// Returns fresh stored content. Follows fresh stored redirects. Verifies a long body on a lane of the store.
    /// `load` receives the snapshot of its key if there is no such content.
    private func contentFromStore(_ load: inout Load) async throws(LoadError) -> (CachedResponse, RedirectRequest)? {
        var (found, missing) = try freshSteps(load, .short)
        while case .deferred(let entry) = missing {
            (found, missing) = try freshSteps(load, await CacheTransaction.verified(entry, in: store))
        }
        if case .forward(let forwarding) = missing { load.snapshot = forwarding.stored.snapshot }
        return found.map { ($0.deliver(), $0.request) }
    }

    /// Returns the stored responses that lead to content without the network.
    func freshSteps(_ load: Load) throws(LoadError) -> StoredSteps<CacheTransaction.Answer>? {
        try freshSteps(load, .unlimited).found
    }

    /// Returns the steps, or the decision that ended the search.
    private func freshSteps(
        _ load: Load, _ reading: CacheTransaction.BodyReading
    ) throws(LoadError) -> (found: StoredSteps<CacheTransaction.Answer>?, missing: CacheTransaction.Step?) {
        var missing: CacheTransaction.Step?
        let found = try storedSteps(load) { (transaction) throws(LoadError) -> CacheTransaction.Answer? in
            let step = try transaction.decide(reading)
            if case .answer(let answer) = step, answer.response.status.kind == .successful || !answer.isRevalidated {
                return answer
            }
            missing = step
            return nil
        }
        return (found, missing)
    }

    /// Follows stored redirects to stored content. `choose` returns the stored response for a step, or `nil` to end the
    /// search.
    func storedSteps<Answer: ChosenResponse>(
        _ load: Load, choose: (CacheTransaction) throws(LoadError) -> Answer?
    ) throws(LoadError) -> StoredSteps<Answer>? {
        var request = RedirectRequest(load)
        var redirects: [(transaction: CacheTransaction, answer: Answer)] = []
        // RFC 9110 §15.4: "A client SHOULD detect and intervene in cyclical redirections". Stored redirects may be
        // cyclical, too.
        for _ in 0...max(0, load.configuration.maxRedirects) {
            let transaction = transaction(load, request)
            guard let answer = try choose(transaction) else { return nil }
            if answer.response.status.kind == .successful {
                return StoredSteps(redirects: redirects, transaction: transaction, answer: answer, request: request)
            }
            let head = HTTPResponse(status: answer.response.status, headerFields: answer.response.fields)
            guard let next = try? Redirect.target(of: head, from: request.target.url) else { return nil }
            redirects.append((transaction, answer))
            request.follow(head.status, to: next)
        }
        return nil
    }

    // MARK: Processed values

    /// Returns the stored value, or else makes the value, and stores it if the processing plan has a format.
    func value(
        _ plan: ProcessingPlan, of arrived: LoadedResource, _ load: Load
    ) async -> Result<any Sendable, LoadError> {
        // A body that has just arrived has no stored values yet.
        if !arrived.resource.source.isTransferred, let original = arrived.original,
            let value = await storedValue(plan, of: original, load)
        {
            return .success(value)
        }
        let value = await make(plan, of: arrived.resource, in: arrived.file)
        if case .success(let value) = value, let original = arrived.original, plan.form != nil {
            await plan.keep(value, of: original, in: store, load.configuration)
        }
        return value
    }

    private func storedValue(_ plan: ProcessingPlan, of original: StoredEntry, _ load: Load) async -> (any Sendable)? {
        // Stay on the caller's executor if the store cannot keep values of the entry.
        guard plan.form != nil,
            let stored = await plan.storedValue(of: original, in: store, load.configuration)
        else { return nil }
        context.meters.diskBytes.add(Int64(stored.byteCount))
        return stored.value
    }

    /// `file` is the stored file with the bytes of the resource.
    func make(
        _ plan: ProcessingPlan, of resource: Loaded<Data>, in file: StoredBody? = nil
    ) async -> Result<any Sendable, LoadError> {
        do {
            return .success(try await plan.make(resource, file))
        } catch {
            return .failure(Task.isCancelled ? .cancelled : .processing(url: resource.url, reason: "\(error)"))
        }
    }
}

/// The stored redirects that lead to stored content, and the content. A class, because a step has about fifty
/// references to copy.
final class StoredSteps<Answer: ChosenResponse>: Sendable {
    let redirects: [(transaction: CacheTransaction, answer: Answer)]
    let transaction: CacheTransaction
    let answer: Answer
    let request: RedirectRequest

    init(
        redirects: [(transaction: CacheTransaction, answer: Answer)], transaction: CacheTransaction, answer: Answer,
        request: RedirectRequest
    ) {
        self.redirects = redirects
        self.transaction = transaction
        self.answer = answer
        self.request = request
    }
}

extension StoredSteps<CacheTransaction.Answer> {
    func noteRedirects() {
        for redirect in redirects { redirect.transaction.note(redirect.answer) }
    }

    /// Records the use of each step, and returns the content.
    func deliver() -> CachedResponse {
        noteRedirects()
        return transaction.deliver(answer)
    }
}

extension Loaded {
    /// Creates a result with a value that was made from the body earlier.
    init(
        _ value: Output, _ response: CachedResponse, _ target: LoadTarget, _ configuration: ResourceLoader.Configuration
    ) throws(LoadError) {
        try configuration.checkContentType(of: response.head, url: target.url.text)
        var fields = response.headerFields
        if configuration.decodesContent, ContentCoding.isKnown(fields) { fields.removeEncodedDescription() }
        self.init(value, response, target, fields)
    }

    /// Creates a result with a value of a response and the given fields.
    init(_ value: Output, _ response: CachedResponse, _ target: LoadTarget, _ fields: HTTPFields) {
        self.init(
            value: value, url: target.url.text, status: response.status, headerFields: fields,
            source: response.source, age: response.age, isStale: response.isStale, expiresAt: response.expiresAt,
            failure: response.failure)
    }
}
