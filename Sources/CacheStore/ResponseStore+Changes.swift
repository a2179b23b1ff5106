public import CacheFoundation

/// Stores and updates entries, and records failed loads.
extension ResponseStore {
    // MARK: Storing

    /// Creates a writer for a new body. The body is stored when the writer commits it.
    public func makeBodyWriter() -> BodyWriter {
        BodyWriter(store: self)
    }

    /// Returns the present position in the sequence of removals. Take the generation before a load begins, and pass it
    /// to the commit of the response. If the key was removed in between, the commit stores nothing and throws
    /// ``StoreError/removedMeanwhile(_:)``. Runs on the calling thread, for some microseconds.
    public func generation() throws(StoreError) -> StoreGeneration {
        try read { (connection) throws(StoreError) in try connection.generation() }
    }

    /// Whether `key` was removed after `generation`. Runs on the calling thread, for some microseconds.
    package func wasRemoved(_ key: CacheKey, since generation: StoreGeneration) throws(StoreError) -> Bool {
        try read { (connection) throws(StoreError) in try connection.wasRemoved(key, since: generation) }
    }

    /// Stores a body that is already in memory, in place of the entry with the same key, kind, variant and part.
    @discardableResult
    public func insert(
        _ body: some ContiguousBytes, metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions()
    ) throws(StoreError) -> StoredEntry {
        let writer = makeBodyWriter()
        try writer.write(body)
        return try writer.commit(metadata, for: key, options: options)
    }

    /// Stores a body like the synchronous overload, without blocking the caller's thread during the commit.
    @discardableResult
    public func insert(
        _ body: some ContiguousBytes & Sendable, metadata: EntryMetadata, for key: CacheKey,
        options: EntryOptions = EntryOptions()
    ) async throws(StoreError) -> StoredEntry {
        let writer = makeBodyWriter()
        try writer.write(body)
        return try await writer.commit(metadata, for: key, options: options)
    }

    /// Sets the lifetime, the pin and the tags of all entries of `key`. Leaves alone the ones that are `nil` in
    /// `options`. Does not count as an access.
    ///
    /// - Returns: Whether the key has any entry.
    /// - Throws: ``StoreError/invalidTag(_:reason:)``, ``StoreError/busy(path:)``, ``StoreError/index(_:)``.
    @discardableResult
    public func setOptions(_ options: EntryOptions, for key: CacheKey) throws(StoreError) -> Bool {
        try options.check()
        return try writer.write(settingOptions(options, key))
    }

    /// Sets the options like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func setOptions(_ options: EntryOptions, for key: CacheKey) async throws(StoreError) -> Bool {
        try options.check()
        return try await writer.write(settingOptions(options, key))
    }

    private func settingOptions(
        _ options: EntryOptions, _ key: CacheKey
    ) -> @Sendable (WriteTransaction) throws(StoreError) -> Bool {
        { (transaction) throws(StoreError) in try transaction.setOptions(options, for: key) > 0 }
    }

    /// Replaces the metadata of an entry after a validation, in one row update. Removes the recorded failures of all
    /// requests for its key.
    ///
    /// Keeps the body, the time when it was stored, the kind, the URL, the part and ``EntryMetadata/isBodyDecoded``. If
    /// `metadata` has the variant of another entry of the key, removes that entry.
    ///
    /// - Returns: `false`, without a change, if the entry was removed or its body replaced.
    @discardableResult
    public func freshen(_ entry: StoredEntry, with metadata: EntryMetadata) throws(StoreError) -> Bool {
        try writer.write(freshening(entry, metadata))
    }

    /// Replaces the metadata like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func freshen(_ entry: StoredEntry, with metadata: EntryMetadata) async throws(StoreError) -> Bool {
        try await freshen(entry, with: metadata, removing: .all)
    }

    /// Replaces the metadata like the public overload, but removes only the selected failures of the key.
    @discardableResult
    package func freshen(
        _ entry: StoredEntry, with metadata: EntryMetadata, removing failures: FailureSelection
    ) async throws(StoreError) -> Bool {
        try await writer.write(freshening(entry, metadata, failures))
    }

    private func freshening(
        _ entry: StoredEntry, _ metadata: EntryMetadata, _ failures: FailureSelection = .all
    ) throws(StoreError) -> @Sendable (WriteTransaction) throws(StoreError) -> Bool {
        try metadata.checkLengths()
        return { (transaction) throws(StoreError) in
            guard try transaction.freshen(entry, metadata) else { return false }
            try transaction.connection.removeFailures(for: entry.key, failures)
            return true
        }
    }

    // MARK: Failures

    /// Counts a failed load of `key`. Returns the number of failures of equal requests since their last success.
    ///
    /// The failures of one request do not count for another, such as a request of another user. Leaves the entries of
    /// the key alone.
    ///
    /// - Parameters:
    ///   - key: The key that could not be loaded.
    ///   - request: A short text that equal requests for the key have in common. The index contains the text in clear,
    ///     so use digests of credentials only. The default, `""`, is enough for a single kind of request.
    ///   - status: The HTTP status of the failure. For a failure without a status, the caller chooses a number.
    ///   - window: The time after which the next failure starts a new count. A new count also starts when the clock was
    ///     set back. `nil`, the default, counts all failures together.
    ///   - generation: The generation of the store when the load began. If the key was removed since then, counts
    ///     nothing and returns 0.
    @discardableResult
    public func recordFailure(
        for key: CacheKey, request: String = "", status: Int, within window: Duration? = nil,
        unlessRemovedSince generation: StoreGeneration? = nil
    ) throws(StoreError) -> Int {
        try writer.write(recordingFailure(key, request, status, window, generation))
    }

    /// Counts a failed load like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func recordFailure(
        for key: CacheKey, request: String = "", status: Int, within window: Duration? = nil,
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> Int {
        try await writer.write(recordingFailure(key, request, status, window, generation))
    }

    private func recordingFailure(
        _ key: CacheKey, _ request: String, _ status: Int, _ window: Duration?, _ generation: StoreGeneration?
    ) -> @Sendable (WriteTransaction) throws(StoreError) -> Int {
        let now = now
        return { (transaction) throws(StoreError) in
            if let generation, try transaction.connection.wasRemoved(key, since: generation) { return 0 }
            return try transaction.connection.recordFailure(
                for: key, request: request, status: status, at: now, within: window?.milliseconds)
        }
    }

    /// Removes failures of `key`, as a commit of content does.
    package func removeFailures(
        of key: CacheKey, _ selection: FailureSelection = .all
    ) async throws(StoreError) {
        _ = try await writer.write { (transaction) throws(StoreError) in
            try transaction.connection.removeFailures(for: key, selection)
        }
    }

    /// Returns the failures of a request for `key` since its last success, or `nil`. Runs on the calling thread, for
    /// some microseconds.
    ///
    /// - Parameters:
    ///   - key: The key that could not be loaded.
    ///   - request: The text with which the failures were recorded. `nil`, the default, sums the counts of all
    ///     requests, and takes the status and time of the latest failure.
    public func failure(for key: CacheKey, request: String? = nil) throws(StoreError) -> LoadFailure? {
        try read { (connection) throws(StoreError) in try connection.failure(for: key, request: request) }
    }
}
