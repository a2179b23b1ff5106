// The folder `HTTPCache/Dictionaries/` chooses, offers and applies compression dictionaries (RFC 9842). The folder may
// read stored responses, remove a damaged one, and replace the body of a transport's response. `Decoding/` has the
// decompressors. The folder sends no request, and offers no dictionary in a shared cache or without HTTPS.

internal import CacheCodings
internal import CacheFoundation
internal import CacheStore
internal import Logging

/// Offers stored responses as compression dictionaries to the origin, if the policy asks for it (RFC 9842). The reply
/// is decoded before it is stored. So it also answers requests after the removal of the dictionary, and requests with
/// another dictionary. The rest of the cache sees neither the fields nor the coding.
extension CacheTransaction {
    func dictionary(for request: HTTPRequest) async -> CompressionDictionary? {
        guard mayUseDictionaries, context.transport.passesUnknownCodings, !policy.verifiesDigests,
            request.method == .get, content == nil,
            !request.headerFields.contains(.range),
            // A client with its own dictionary decodes the reply itself.
            !request.headerFields.contains(where: { $0.name.canonicalName == "available-dictionary" })
        else { return nil }
        let keys = await DictionaryTable.of(store).keys(for: target, in: store)
        guard !keys.isEmpty else { return nil }
        return await store.onReadingLane { best(of: keys).flatMap(open) }
    }

    /// RFC 9842 §8: "compression dictionary transport MUST only be used in secure contexts (HTTPS)". §9.2, §10: in a
    /// shared cache, the dictionary of one user would reveal information to another.
    private var mayUseDictionaries: Bool {
        policy.usesDictionaries && !policy.isShared && request.scheme == "https" && !DictionaryCoding.supported.isEmpty
    }

    /// Returns an action that runs once the response is stored, or `nil` when the response cannot be a dictionary.
    func dictionaryNote(of response: StoredResponse) -> (@Sendable () -> Void)? {
        guard mayUseDictionaries, UseAsDictionary(response.fields, of: url) != nil else { return nil }
        return { [key, table = DictionaryTable.of(store)] in table.note(key) }
    }

    private struct Candidate {
        let entry: StoredEntry
        let response: StoredResponse
        let use: UseAsDictionary
    }

    /// Returns the dictionary that takes precedence (RFC 9842 §2.2.3).
    private func best(of keys: [CacheKey]) -> Candidate? {
        let table = DictionaryTable.of(store)
        var best: Candidate?
        for key in keys {
            for entry in (try? store.responses(for: key)) ?? [] {
                let response = EntryCodec.response(of: entry)
                guard response.status == .ok, response.part == nil, entry.byteCount > 0,
                    entry.byteCount <= CompressionDictionary.maxByteCount, !table.isUnusable(entry),
                    let use = UseAsDictionary(response.fields, of: key.text), use.matches(url),
                    Freshness(of: response, policy: policy).permitsUseAsDictionary(at: now),
                    // Another user's response is not a dictionary for this request. Fingerprints depend on the key.
                    response.isSelected(by: request, policy: policy, fingerprint: Self.fingerprint(under: entry.key))
                else { continue }
                if let best,
                    !use.precedes(
                        best.use, fetchedAt: response.responseTime, otherFetchedAt: best.response.responseTime)
                {
                    continue
                }
                best = Candidate(entry: entry, response: response, use: use)
            }
        }
        return best
    }

    /// Opens a dictionary: its content, without the content coding. Reads the content only at the first use.
    private func open(_ candidate: Candidate) -> CompressionDictionary? {
        let (entry, id, fields) = (candidate.entry, candidate.use.id, candidate.response.fields)
        guard let body = try? store.openBody(of: entry), let storedDigest = body.digest else { return nil }
        guard fields.contains(.contentEncoding) else {
            return CompressionDictionary(entry: entry, id: id, digest: storedDigest) { try? body.data() }
        }
        let decode: @Sendable (Data) -> Data? = { stored in
            try? ContentCoding.decode(stored, fields, limit: CompressionDictionary.maxByteCount)
        }
        let table = DictionaryTable.of(store)
        if let digest = table.decodedDigest(of: entry) {
            return CompressionDictionary(entry: entry, id: id, digest: digest) {
                (try? body.data()).flatMap(decode)
            }
        }
        // The digest of damaged bytes would pass for that of the dictionary.
        guard let stored = try? body.data(), ContentDigest(of: stored) == storedDigest else {
            discardIfDamaged(entry)
            return nil
        }
        guard let bytes = decode(stored) else {
            table.noteUnusable(entry)
            return nil
        }
        let digest = ContentDigest(of: bytes)
        table.note(digest, of: entry)
        return CompressionDictionary(entry: entry, id: id, digest: digest) { bytes }
    }

    /// Ends the offers of a dictionary whose body is damaged, and removes its entry, so that the next load of its URL
    /// comes from the origin.
    private func discardIfDamaged(_ entry: StoredEntry) {
        do throws(StoreError) {
            guard try store.removeIfDamaged(entry) else { return }
            // A store that is open for reading only keeps the entry.
            DictionaryTable.of(store).noteUnusable(entry)
        } catch {
            log("could not compare a dictionary with its digest", error)
        }
    }

    /// Returns the bytes of a dictionary that the origin has used. `nil` if unreadable or different from the digest.
    private func content(of dictionary: CompressionDictionary) async -> Data? {
        await store.onReadingLane {
            if let bytes = dictionary.content() { return bytes }
            discardIfDamaged(dictionary.entry)
            return nil
        }
    }

    /// Returns a reply without the coding of the dictionary, or the reply itself if it has no such coding or is a 304.
    /// Returns `nil` for a reply with another dictionary, with several codings or with a coding that was not offered.
    /// Also returns `nil` when the bytes of this dictionary are damaged or unreadable.
    func decoded(
        _ reply: TransportResponse, with dictionary: CompressionDictionary
    ) async throws(TransportError) -> TransportResponse? {
        let codings = reply.head.headerFields[.contentEncoding]?.lowercased() ?? ""
        guard DictionaryCoding.allCases.contains(where: { codings.contains($0.rawValue) }),
            reply.head.status != .notModified
        else { return reply }
        guard let coding = DictionaryCoding(rawValue: codings) else { return nil }
        let header = coding.header(digest: dictionary.digest.withUnsafeBytes { Data($0) })
        var start = Data()
        while start.count < header.count, let chunk = try await reply.body.next() { start += chunk }
        guard start.starts(with: header), let bytes = await content(of: dictionary),
            let body = DictionaryBody(
                coding, dictionary: bytes, rest: Data(start.dropFirst(header.count)), source: reply.body)
        else { return nil }
        var decoded = reply
        decoded.isBodyDecoded = true
        decoded.head.headerFields.removeEncodedDescription()
        // RFC 9110 §8.8.3: a strong tag identifies the encoded bytes.
        decoded.head.headerFields[fields: .eTag] = reply.head.headerFields[fields: .eTag].map { field in
            let tag = field.trimmedBytes
            guard tag.first == UInt8(ascii: "\"") else { return field }
            return HTTPField(name: .eTag, lenientValue: Array("W/".utf8) + tag)
        }
        decoded.body = TransportBody { () async throws(TransportError) in try await body.next() }
        return decoded
    }
}
