internal import CacheFoundation
internal import CacheStore
internal import Logging

/// Changes the store after a reply.
extension CacheTransaction {
    // MARK: Existing entries

    /// Replaces the metadata of a stored response after a reply has freshened it.
    func freshen(_ received: Received, _ index: Int, _ response: StoredResponse) async {
        let entry = received.forwarding.stored.entries[index]
        let beganAt = beginStep()
        var isStored = false
        defer { endStep(beganAt, .commit(isStored: isStored)) }
        await logging("could not freshen a stored response") { () async throws(StoreError) in
            isStored = try await store.freshen(
                entry, with: metadata(of: response, received.times, under: entry.key), removing: endedFailures)
        }
    }

    func remove(_ entry: StoredEntry) async {
        await logging("could not remove a response") { () async throws(StoreError) in try await store.remove(entry) }
    }

    func removeStored() async {
        await logging("could not remove a response") { () async throws(StoreError) in try await store.remove(key) }
    }

    /// Invalidates stored and arriving responses for the target of the request and for other URLs named by the reply,
    /// after a success of an unsafe method (RFC 9111 §4.4). Returns whether the reply was such a success.
    func invalidate(after reply: HTTPResponse) async -> Bool {
        let keys = Invalidation.targets(of: request, url: url, reply: reply).compactMap {
            try? CacheKey(url: $0, partition: key.partition)
        }
        guard !keys.isEmpty else { return false }
        let groups = CacheGroups.invalidated(by: reply.headerFields, method: request.method)
        // A lookup by URL does not find a response stored under a name.
        let invalidated = key == target ? keys : [key] + keys
        await logging("could not remove a response") { () async throws(StoreError) in
            try await store.invalidate(invalidated, groups: groups)
        }
        return true
    }

    /// Whether ``invalidate(after:)`` or ``clearSite(after:)`` may remove a response. Reads no store.
    func mayRemove(_ reply: HTTPResponse) -> Bool {
        !request.method.isSafe || configuration.clearsSiteData && ClearSiteData(reply.headerFields).clearsCache
    }

    /// Whether the key was removed since the store had this generation.
    func wasRemoved(since generation: StoreGeneration?) -> Bool {
        generation.map { (try? store.wasRemoved(key, since: $0)) != false } ?? false
    }

    /// Removes all stored responses of a secure origin if the reply asks for it (W3C Clear Site Data). Returns whether
    /// the reply asked for it.
    func clearSite(after reply: HTTPResponse) async -> Bool {
        // Without TLS, an attacker on the network could clear the origin.
        guard configuration.clearsSiteData, request.scheme == "https", let origin = target.origin,
            ClearSiteData(reply.headerFields).clearsCache
        else { return false }
        await logging("could not clear an origin") { () async throws(StoreError) in
            try await store.removeAll(EntrySelection(partition: key.partition, prefix: origin))
        }
        return true
    }

    // MARK: New entries

    /// Returns the metadata of a 200 with these fields, as if the origin sent it now. Throws
    /// ``LoadError/notStorable(url:)`` if the response could not be stored.
    func metadata(ofContentWith fields: HTTPFields) throws(LoadError) -> EntryMetadata {
        let now = configuration.clock()
        let reply = HTTPResponse(status: .ok, headerFields: fields)
        guard let metadata = metadata(of: reply, Times(requested: now, received: now)) else {
            throw .notStorable(url: url)
        }
        return metadata
    }

    /// Returns the metadata of a whole response to this request, or `nil` when the response must not be stored.
    func metadata(of reply: HTTPResponse, isBodyDecoded: Bool = false, _ times: Times) -> EntryMetadata? {
        let exchange = Exchange(
            request: request, reply: reply, requestTime: HTTPDate(times.requested),
            responseTime: HTTPDate(times.received), isBodyDecoded: isBodyDecoded)
        let decision = ReplyDecision(
            for: exchange, original: request, candidates: [], question: .none, policy: policy, fingerprint: fingerprint)
        guard case .store(let response) = decision.action else { return nil }
        return metadata(of: response, times, under: key)
    }

    func metadata(of response: StoredResponse, _ times: Times, under key: CacheKey) -> EntryMetadata {
        var metadata = EntryCodec.metadata(
            of: response, policy: policy, requestedAt: times.requested, receivedAt: times.received)
        // The key is a name without the URL, or a URL with a fragment.
        if self.key != target { metadata.url = url }
        if self.key == target, !NoVarySearch(response.fields).isDefault {
            metadata.searchBase = String(NoVarySearch.base(of: key.text))
        }
        return metadata
    }

    /// Returns how the store keeps the body of a storable response. The whole replaces the stored parts.
    func storing(
        _ received: Received, whole response: StoredResponse, in writer: BodyWriter
    ) -> SharedBody.Storing {
        let noteDictionary = dictionaryNote(of: response)
        let metadata = metadata(of: response, received.times, under: key)
        let parts = received.forwarding.stored.entries.filter { entry in
            entry.metadata.part != nil && entry.metadata.variant == metadata.variant && entry.key == key
        }
        let beginning = parts.first { $0.metadata.part?.start == 0 }
        let others = parts.filter { $0.metadata.part?.start != 0 }
        let (generation, failures) = (received.generation, endedFailures)
        let partMetadata = self.metadata(ofPartOf: response, metadata)
        return SharedBody.Storing(
            writer: writer,
            commit: { [key] (writer, part) async throws(StoreError) in
                let replaced = others + [part ?? beginning].compactMap(\.self)
                let entry = try await writer.commit(
                    metadata, for: key, replacing: replaced, removing: failures, unlessRemovedSince: generation)
                if entry != nil { noteDictionary?() }
                return SharedBody.Outcome(entry)
            },
            commitPart: partMetadata.map { commitPart($0, generation) },
            partCommits: partMetadata.map { partCommits(of: writer, after: beginning, $0, generation) },
            underWay: context.bodies)
    }

    /// Returns `nil` when no later request can complete the part.
    private func metadata(ofPartOf response: StoredResponse, _ metadata: EntryMetadata) -> EntryMetadata? {
        // Only a strong validator shows that the rest belongs to the part (RFC 9111 §3.4). Ranges count encoded bytes,
        // so a decoded body has no rest to ask for.
        guard response.status == .ok, !response.isBodyDecoded, request.method == .get,
            response.strongValidator != nil
        else { return nil }
        var metadata = metadata
        let length = response.fields[.contentLength].flatMap { Int64($0) }
        metadata.part = EntryPart(start: 0, completeLength: length)
        return metadata
    }

    private func commitPart(
        _ metadata: EntryMetadata, _ generation: StoreGeneration?
    ) -> @Sendable (BodyWriter, _ part: StoredEntry?) async throws(StoreError) -> Void {
        { [key, failures = endedFailures] (writer, part) async throws(StoreError) in
            try await writer.commit(
                metadata, for: key, replacing: [part].compactMap(\.self), removing: failures,
                unlessRemovedSince: generation)
        }
    }

    private func partCommits(
        of writer: BodyWriter, after part: StoredEntry?, _ metadata: EntryMetadata, _ generation: StoreGeneration?
    ) -> PartCommits {
        PartCommits(
            url: url, of: writer, after: part, clock: configuration.clock, log: configuration.log,
            commit: { [key] (writer, last) async throws(StoreError) in
                try await writer.commitPrefix(metadata, for: key, replacing: last, unlessRemovedSince: generation)
            },
            remove: { [store] (part) async throws(StoreError) in try await store.remove(part) })
    }

    /// Returns how the store keeps the body of a 206: alone, or combined with stored parts of the same representation.
    /// `verifiesContent` tells whether the new part is compared with a digest.
    func storing(
        _ received: Received, part response: StoredResponse, in writer: BodyWriter, verifiesContent: Bool
    ) -> SharedBody.Storing {
        let entries = received.forwarding.stored.entries
        let (generation, failures) = (received.generation, endedFailures)
        guard let part = response.part else { preconditionFailure("a 206 has a part") }
        let (selected, combination) = combine(response, part, received)
        // The commit also removes parts of a representation that the origin has replaced since.
        let outdated = combination.displaced.map { entries[selected[$0]] }
        switch combination.action {
        case .isCoveredByWhole:
            return SharedBody.Storing(
                writer: writer, commit: { _, _ in .unnecessary }, commitPart: nil, partCommits: nil,
                underWay: context.bodies)
        case .standsAlone:
            let metadata = metadata(of: response, received.times, under: key)
            return SharedBody.Storing(
                writer: writer,
                commit: { [key] (writer, _) async throws(StoreError) in
                    guard writer.byteCount == part.byteCount else { return .unnecessary }
                    return SharedBody.Outcome(
                        try await writer.commit(
                            metadata, for: key, replacing: outdated, removing: failures,
                            unlessRemovedSince: generation))
                },
                commitPart: nil, partCommits: nil, underWay: context.bodies)
        case .combines(let combined):
            var union = response
            union.status = combined.status
            union.fields = combined.fields
            union.fields.describeWhole(ofLength: combined.union.completeLength)
            union.part = combined.union.isComplete ? nil : combined.union
            let metadata = metadata(of: union, received.times, under: key)
            let sources = combined.pieces.map { piece in
                CombinedBody.Piece(piece, new: part, entries: selected.map { entries[$0] })
            }
            let members = combined.members.map { entries[selected[$0]] }
            let parts = combined.members.map { received.forwarding.stored.responses[selected[$0]] }
            let digests =
                union.part == nil ? IntegrityDigests.ofWhole(union.fields, combining: parts, policy: policy) : []
            return SharedBody.Storing(
                writer: writer,
                commit: { [self] (writer, _) async throws(StoreError) in
                    // A body whose length contradicts its Content-Range must not displace valid bytes.
                    guard writer.byteCount == part.byteCount,
                        let whole = try await CombinedBody.make(sources, new: writer, in: store)
                    else { return .unnecessary }
                    if let error = try await mismatch(of: whole, digests) {
                        // Any part may be wrong, except a new part that matches its own digest.
                        for member in members { await remove(member) }
                        return verifiesContent ? .unnecessary : .refused(error)
                    }
                    return SharedBody.Outcome(
                        try await whole.commit(
                            metadata, for: key, replacing: outdated + members, removing: failures,
                            unlessRemovedSince: generation))
                },
                commitPart: nil, partCommits: nil, underWay: context.bodies)
        }
    }

    /// Combines a part with the stored responses that the request selects. `selected` contains their indices.
    private func combine(
        _ response: StoredResponse, _ part: StoredPart, _ received: Received
    ) -> (selected: [Int], combination: PartCombination) {
        let candidates = received.forwarding.stored.responses
        // By No-Vary-Search, a stored response may belong to another URL. Its parts are no parts of this one.
        let selected = candidates.indices.filter { index in
            candidates[index].isSelected(by: request, policy: policy, fingerprint: fingerprint)
                && received.forwarding.stored.entries[index].key == key
        }
        let stored = selected.map { (response: candidates[$0], part: candidates[$0].part) }
        return (selected, PartCombination(of: response, part: part, with: stored))
    }
}
