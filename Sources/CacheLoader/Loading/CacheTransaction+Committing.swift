internal import CacheStore
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a reply changes in the store.
extension CacheTransaction {
    // MARK: Entries that are there

    /// Replaces what is known of a stored response by what the reply has made of it.
    func freshen(_ received: Received, _ index: Int, _ response: StoredResponse) async {
        let entry = received.forwarding.stored.entries[index]
        do throws(StoreError) {
            try await store.freshen(entry, with: metadata(of: response, received.times, under: entry.key))
        } catch {
            log("could not freshen a stored response", error)
        }
    }

    func remove(_ entry: StoredEntry) async {
        do throws(StoreError) {
            try await store.remove(entry)
        } catch {
            log("could not remove a response", error)
        }
    }

    func removeStored() async {
        do throws(StoreError) {
            try await store.remove(key)
        } catch {
            log("could not remove a response", error)
        }
    }

    /// RFC 9111 §4.4: after a success of an unsafe method, what is stored for its target, and for others that it names, is
    /// out of date, and so is what is on its way.
    ///
    /// - Returns: Whether it was such a success.
    func invalidate(after reply: HTTPResponse) async -> Bool {
        let keys = Invalidation.targets(of: request, url: url, reply: reply).compactMap {
            try? CacheKey(url: $0, partition: key.partition)
        }
        guard !keys.isEmpty else { return false }
        let groups = CacheGroups.invalidated(by: reply.headerFields, method: request.method)
        do throws(StoreError) {
            // What is kept under a name instead of a URL is not found by the URL.
            try await store.invalidate(key == target ? keys : [key] + keys, groups: groups)
        } catch {
            log("could not remove a response", error)
        }
        return true
    }

    /// W3C Clear Site Data: a secure origin may have all that is stored of it cleared.
    ///
    /// - Returns: Whether it wanted that.
    func clearSite(after reply: HTTPResponse) async -> Bool {
        guard configuration.clearsSiteData, request.scheme == "https", let origin = target.origin,
            ClearSiteData(reply.headerFields).clearsCache
        else { return false }
        do throws(StoreError) {
            try await store.removeAll(EntrySelection(partition: key.partition, prefix: origin))
        } catch {
            log("could not clear an origin", error)
        }
        return true
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

    // MARK: New entries

    /// What the store is to know of a 200 with these fields, if the origin sent it now.
    ///
    /// - Throws: ``LoadError/notStorable(url:)`` if it could not be stored.
    func metadata(ofContentWith fields: HTTPFields) throws(LoadError) -> EntryMetadata {
        let now = configuration.clock()
        let exchange = Exchange(
            request: request, reply: HTTPResponse(status: .ok, headerFields: fields), requestTime: HTTPDate(now),
            responseTime: HTTPDate(now))
        let decision = ReplyDecision.make(
            exchange, original: request, candidates: [], question: .none, policy: policy, fingerprint: fingerprint)
        guard case .store(let response) = decision else { throw .notStorable(url: url) }
        return metadata(of: response, Times(requested: now, received: now), under: key)
    }

    func metadata(of response: StoredResponse, _ times: Times, under key: CacheKey) -> EntryMetadata {
        var metadata = EntryCodec.metadata(
            of: response, policy: policy, requestedAt: times.requested, receivedAt: times.received)
        // Where the key does not say it.
        if self.key != target { metadata.url = url }
        if self.key == target, NoVarySearch(response.fields) != nil {
            metadata.searchBase = String(NoVarySearch.base(of: key.text))
        }
        return metadata
    }

    /// What the store does with the body of a response that may be stored.
    ///
    /// The parts that are there of the same response are needless once the whole is.
    func storing(_ received: Received, whole response: StoredResponse, in writer: BodyWriter) -> SharedBody.Storing {
        let metadata = metadata(of: response, received.times, under: key)
        let parts = received.forwarding.stored.entries.filter { entry in
            entry.metadata.part != nil && entry.metadata.variant == metadata.variant && entry.key == key
        }
        let generation = received.generation
        return SharedBody.Storing(
            writer: writer,
            commit: { [key] (writer) async throws(StoreError) in
                try await writer.commit(metadata, for: key, replacing: parts, unlessRemovedSince: generation)
            },
            commitPart: commitPart(of: response, metadata, generation))
    }

    /// A body that has broken off can be completed later, if a strong validator tells that the rest belongs to it (RFC 9111
    /// §3.3, §3.4).
    private func commitPart(
        of response: StoredResponse, _ metadata: EntryMetadata, _ generation: StoreGeneration?
    ) -> (@Sendable (BodyWriter) async throws(StoreError) -> Void)? {
        guard response.status == .ok, !response.isBodyDecoded, request.method == .get,
            StrongValidator(response.fields, responseTime: response.responseTime) != nil
        else { return nil }
        var metadata = metadata
        let length = response.fields[.contentLength].flatMap { Int64($0) }
        metadata.part = EntryPart(start: 0, completeLength: length)
        return { [key, metadata] (writer) async throws(StoreError) in
            try await writer.commit(metadata, for: key, replacing: [], unlessRemovedSince: generation)
        }
    }

    /// What the store does with the body of a 206: alone, or together with what is there of the same representation.
    func storing(_ received: Received, part response: StoredResponse, in writer: BodyWriter) -> SharedBody.Storing {
        let stored = received.forwarding.stored
        let generation = received.generation
        let combination = PartCombination(
            response, with: stored.responses, ofSelection: response.selection)
        let commit: @Sendable (BodyWriter) async throws(StoreError) -> Void
        switch combination {
        case .coveredByWhole: commit = { _ in }
        case .standsAlone(let outdated):
            let metadata = metadata(of: response, received.times, under: key)
            let outdated = outdated.map { stored.entries[$0] }
            commit = { [key] (writer) async throws(StoreError) in
                try await writer.commit(metadata, for: key, replacing: outdated, unlessRemovedSince: generation)
            }
        case .combines(let union, let pieces, let absorbed):
            let metadata = metadata(of: union, received.times, under: key)
            let absorbed = absorbed.map { stored.entries[$0] }
            let entries = stored.entries
            commit = { [key, store] (part) async throws(StoreError) in
                let writer = store.makeBodyWriter()
                for piece in pieces {
                    let body: StoredBody?
                    switch piece.source {
                    case .new: body = try part.written()
                    case .stored(let index): body = try store.openBody(of: entries[index])
                    }
                    guard let body else { return }
                    try await writer.append(body, piece.range)
                }
                try await writer.commit(metadata, for: key, replacing: absorbed, unlessRemovedSince: generation)
            }
        }
        return SharedBody.Storing(writer: writer, commit: commit, commitPart: nil)
    }
}
