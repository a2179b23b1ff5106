public import CacheStore
internal import HTTPCaching
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Inserts and removes stored content without asking an origin.
extension ResourceLoader {
    /// How long a local insert stays fresh unless its fields say otherwise: a year.
    public static let insertedLifetime: Int64 = 31_536_000

    /// Stores bytes as the content of a URL, as if its origin had just sent them with status 200 and these fields.
    ///
    /// The fields are validators, `Content-Type`, `Cache-Control` and what else a reader wants. Without `Cache-Control` and
    /// `Expires` the bytes stay fresh for ``insertedLifetime``.
    ///
    /// `options` say how long the entry may stay, whether it is pinned, and its tags; what they do not say stays as it was.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/notStorable(url:)``, ``LoadError/store(_:)``.
    @discardableResult
    public func insert(
        _ data: Data, for url: String, headerFields: HTTPFields = [:], options: EntryOptions = EntryOptions()
    ) async throws(LoadError) -> StoredEntry {
        try await insert(data, for: ResourceRequest(url), headerFields: headerFields, options: options)
    }

    /// Stores bytes as the answer to a request: under its key, if it has one, and for the request fields that `Vary` in
    /// `headerFields` names; else as ``insert(_:for:headerFields:options:)-(Data,String,_,_)``.
    @discardableResult
    public func insert(
        _ data: Data, for request: ResourceRequest, headerFields: HTTPFields = [:],
        options: EntryOptions = EntryOptions()
    ) async throws(LoadError) -> StoredEntry {
        let (key, metadata) = try local(request, headerFields)
        return try await changing { () async throws(StoreError) in
            try await store.insert(data, metadata: metadata, for: key, options: options)
        }
    }

    /// Stores what was written to `body`, a writer of ``store``, which is committed; else as
    /// ``insert(_:for:headerFields:options:)-(Data,String,_,_)``.
    ///
    /// - Throws: As the other form; then nothing of the body is stored.
    @discardableResult
    public func insert(
        _ body: BodyWriter, for url: String, headerFields: HTTPFields = [:], options: EntryOptions = EntryOptions()
    ) async throws(LoadError) -> StoredEntry {
        let (key, metadata) = try local(ResourceRequest(url), headerFields)
        return try await changing { () async throws(StoreError) in
            try await body.commit(metadata, for: key, options: options)
        }
    }

    private func changing<Result>(
        _ change: () async throws(StoreError) -> Result
    ) async throws(LoadError) -> Result {
        do throws(StoreError) {
            return try await change()
        } catch {
            throw .store(error)
        }
    }

    /// What the store is to know of a local insert.
    private func local(
        _ request: ResourceRequest, _ headerFields: HTTPFields
    ) throws(LoadError) -> (CacheKey, EntryMetadata) {
        let load = try load(for: request)
        var fields = headerFields
        if fields[.cacheControl] == nil, fields[.expires] == nil {
            fields[.cacheControl] = "max-age=\(Self.insertedLifetime)"
        }
        fields[.date] = HTTPDate(load.configuration.clock()).description
        let get = HopRequest(load, method: .get)
        return (load.target.key, try transaction(load, get).metadata(ofContentWith: fields))
    }

    /// Removes everything stored for a URL: body, fields, validators, every variant, the failures counted, and what is in
    /// memory.
    ///
    /// - Returns: Whether there was anything.
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/store(_:)``.
    @discardableResult
    public func remove(_ url: String) async throws(LoadError) -> Bool {
        try await remove(ResourceRequest(url))
    }

    /// Removes everything stored for a request, every variant; else as ``remove(_:)-(String)``.
    ///
    /// - Throws: As ``peek(_:)-(ResourceRequest)``.
    @discardableResult
    public func remove(_ request: ResourceRequest) async throws(LoadError) -> Bool {
        let key = try LoadTarget(request, partition: configuration.partition).key
        return try await changing { () async throws(StoreError) in try await store.remove(key) }
    }
}
