public import CacheFoundation
internal import CacheStore

/// Answers from memory and from the store without suspension. Each method returns the value that a load would return
/// without asking the origin, and records the access, as a load does. Leaves a stale value within
/// `stale-while-revalidate` (RFC 5861 §3) to a load, which validates it. Cost on the calling thread: about a
/// microsecond from memory, plus a lookup after a commit. From the store, some microseconds for one lookup for each
/// redirect step and a read of the file, plus the processor or the decoding of a ``StoredForm``. The first read of a
/// file in a process verifies its digest.
extension ResourceLoader {
    /// Returns the content that answers a request without the network, if there is any, as bytes or as a value that a
    /// processor makes.
    ///
    /// ```swift
    /// let feed = try loader.cachedValue(for: "https://example.com/feed.json", as: .json(Feed.self))
    /// ```
    ///
    /// Runs on the calling thread: a lookup, and a read of the file unless the value is in memory. The content is
    /// fresh, or stale as far as the policy of the request allows: see ``Loaded/isStale``. Returns `nil` for methods
    /// other than GET and HEAD.
    ///
    /// Looks in memory, then for a value with a ``StoredForm`` in the store. Otherwise a ``SynchronousProcessor``, such
    /// as `.text` and `.json`, processes the stored content on the calling thread. With another processor the result is
    /// `nil`. Keeps a new value in memory, but not in the store.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``,
    ///   ``LoadError/unacceptableContentType(_:url:)``, ``LoadError/bodyTooLarge(url:limit:)``,
    ///   ``LoadError/processing(url:reason:)``.
    public func cachedValue<P: Processor>(
        for request: some ResourceRequestConvertible, as processor: P = DataProcessor()
    ) throws(LoadError) -> Loaded<P.Output>? where P.Input == Data {
        try cachedValue(for: request.resourceRequest, ProcessingPlan(processor)) {
            guard let processor = processor as? any SynchronousProcessor<Data, P.Output> else { return nil }
            return { resource in
                let context = ProcessingContext(url: resource.url, headerFields: resource.headerFields)
                return try processor.processSynchronously(resource.data, context)
            }
        }
    }

    /// `maker` returns a function that makes the value from content, or `nil` when only a load can make the value. It
    /// runs only without an existing value.
    private func cachedValue<Output: Sendable>(
        for request: ResourceRequest, _ plan: ProcessingPlan, maker: () -> ((Loaded<Data>) throws -> Output)?
    ) throws(LoadError) -> Loaded<Output>? {
        let key = memoryKey(request, plan)
        if let loaded = loadFromMemory(key) {
            context.meters.requests.add()
            return loaded.cast()
        }
        let load = try load(for: request)
        guard load.isShareable, let found = try cachedSteps(load), !found.answer.isRevalidated else { return nil }
        let response = found.transaction.response(from: found.answer)
        guard let (loaded, byteCount) = try value(plan, of: response, found.request, load, maker) else { return nil }
        context.meters.requests.add()
        found.noteRedirects()
        found.transaction.note(found.answer)
        if let key {
            remember([key: loaded.value], of: loaded, byteCount, found.answer.entry, found.answer.found, load)
        }
        return loaded
    }

    /// Calls ``freshSteps(_:)``. Returns `nil` when no stored response answers and the policy forbids the network.
    private func cachedSteps(_ load: Load) throws(LoadError) -> StoredSteps<CacheTransaction.Answer>? {
        do throws(LoadError) {
            return try freshSteps(load)
        } catch .notCached {
            return nil
        }
    }

    /// Reads the stored value of a response, or makes the value from the stored content.
    private func value<Output: Sendable>(
        _ plan: ProcessingPlan, of response: CachedResponse, _ request: RedirectRequest, _ load: Load,
        _ maker: () -> ((Loaded<Data>) throws -> Output)?
    ) throws(LoadError) -> (Loaded<Output>, byteCount: Int)? {
        let (target, configuration) = (request.target, load.configuration)
        if let original = response.original(for: request.method),
            let stored = plan.readStoredValue(of: original, in: store, configuration)
        {
            context.meters.diskBytes.add(Int64(stored.byteCount))
            let loaded = try Loaded(stored.value, response, target, configuration)
            return (loaded.cast(), Int(clamping: original.byteCount))
        }
        guard let make = maker() else { return nil }
        let resource: Loaded<Data>
        do throws(LoadError) {
            resource = try Loaded<Data>(stored: response, target, configuration)
        } catch .store, .malformedContent {
            // The stored body is unusable. A load asks the origin for another one.
            return nil
        }
        do {
            return (resource.with(try make(resource)), resource.data.count)
        } catch {
            throw .processing(url: resource.url, reason: "\(error)")
        }
    }
}

extension Loaded<Data> {
    /// Reads the stored body of a response on the calling thread.
    fileprivate init(
        stored response: CachedResponse, _ target: LoadTarget, _ configuration: ResourceLoader.Configuration
    ) throws(LoadError) {
        try configuration.checkContentType(of: response.head, url: target.url.text)
        var data = try response.body.storedData(upTo: .max) ?? Data()
        var fields = response.headerFields
        if response.status != .partialContent {
            data = try configuration.decode(data, &fields, url: target.url.text)
        }
        self.init(data, response, target, fields)
    }
}
