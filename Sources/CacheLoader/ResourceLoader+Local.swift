public import CacheFoundation
public import CacheStore

/// Inserts and removes stored content without asking an origin.
extension ResourceLoader {
    /// The freshness lifetime of a local insert in seconds, unless its fields state another: a year.
    public static let insertedLifetime: Int64 = 31_536_000

    /// Stores bytes as the response to a request, as if its origin had just sent them with status 200 and these fields.
    ///
    /// Useful fields are validators, `Content-Type` and `Cache-Control`. Without `Cache-Control` and `Expires` the
    /// bytes stay fresh for ``insertedLifetime``.
    ///
    /// The entry has the key of the request, if it has one. The response answers requests with the same values of the
    /// request fields that `Vary` in `headerFields` names.
    ///
    /// `options` set the lifetime, the pin and the tags of the entry. An option that is `nil` keeps its earlier value.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``,
    ///   ``LoadError/notStorable(url:)``, ``LoadError/store(_:)``.
    @discardableResult
    public func insert(
        _ data: Data, for request: some ResourceRequestConvertible, headerFields: HTTPFields = [:],
        options: EntryOptions = EntryOptions()
    ) async throws(LoadError) -> StoredEntry {
        let (key, metadata) = try local(request.resourceRequest, headerFields)
        return try await LoadError.wrapping { () async throws(StoreError) in
            try await store.insert(data, metadata: metadata, for: key, options: options)
        }
    }

    /// Commits `body`, a writer of ``store``, as the content of a URL, otherwise like
    /// ``insert(_:for:headerFields:options:)-(Data,_,_,_)``.
    ///
    /// - Throws: The same errors. After an error the store keeps nothing of the body.
    @discardableResult
    public func insert(
        _ body: BodyWriter, for url: String, headerFields: HTTPFields = [:], options: EntryOptions = EntryOptions()
    ) async throws(LoadError) -> StoredEntry {
        let (key, metadata) = try local(ResourceRequest(url), headerFields)
        return try await LoadError.wrapping { () async throws(StoreError) in
            try await body.commit(metadata, for: key, options: options)
        }
    }

    /// Returns the key and the metadata of a local insert.
    private func local(
        _ request: ResourceRequest, _ headerFields: HTTPFields
    ) throws(LoadError) -> (CacheKey, EntryMetadata) {
        let load = try load(for: request)
        var fields = headerFields
        if fields[.cacheControl] == nil, fields[.expires] == nil {
            fields[.cacheControl] = "max-age=\(Self.insertedLifetime)"
        }
        fields[.date] = HTTPDate(load.configuration.clock()).description
        let get = RedirectRequest(load, method: .get)
        return (load.target.key, try transaction(load, get).metadata(ofContentWith: fields))
    }

    /// Removes everything stored for a request: body, fields, validators, all variants, and counted failures. Values in
    /// memory no longer answer, and are released at their next use or eviction.
    ///
    /// - Returns: Whether the store contained anything for the request.
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``, ``LoadError/store(_:)``.
    @discardableResult
    public func remove(_ request: some ResourceRequestConvertible) async throws(LoadError) -> Bool {
        let key = try load(for: request.resourceRequest).target.key
        return try await LoadError.wrapping { () async throws(StoreError) in try await store.remove(key) }
    }
}
