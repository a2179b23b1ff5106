/// The changes that a 200 to a HEAD makes to stored responses to GETs (RFC 9111 §4.3.5).
package struct HeadUpdate: Hashable, Sendable {
    /// The responses to store again, by their index among the candidates. A confirmed response has the fields of the
    /// HEAD. An unconfirmed response becomes stale.
    package private(set) var updates: [Int: StoredResponse] = [:]
    /// The indices of the responses to remove, in order.
    package private(set) var removals: [Int] = []

    package var isEmpty: Bool { updates.isEmpty && removals.isEmpty }

    /// Finds the changes by `exchange`, a forwarded HEAD and its reply. Only a status of 200 has an effect. An error or
    /// a redirect does not mean that the last good response to a GET is out of date. `candidates` are all stored
    /// responses for the key. Responses that another request selected stay unchanged.
    package init(
        _ exchange: Exchange, candidates: [StoredResponse], policy: CachePolicy,
        fingerprint: VaryKey.Fingerprint
    ) {
        let reply = exchange.reply
        guard exchange.request.method == .head, reply.status == .ok,
            reply.headerFields.count <= StorageDecision.maxFieldCount
        else { return }
        // RFC 9111 §5.2.1.5: no part of the response to a request with no-store may be stored, and an update would
        // store a part.
        let mayStore = !CacheControl(exchange.request.headerFields).noStore
        for (index, candidate) in candidates.enumerated()
        where candidate.varyKey.matches(
            exchange.request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
        {
            guard candidate.status == .ok || candidate.status == .partialContent else {
                // The origin has replaced a stored error or redirect by a 200.
                removals.append(index)
                continue
            }
            guard candidate.isConfirmed(byHead: reply.headerFields) else {
                // "the cache SHOULD consider the stored response to be stale". The response is not removed, because the
                // HEAD may only have requested another content coding.
                if mayStore, Freshness(of: candidate, policy: policy).lifetime <= DeltaSeconds.limit {
                    updates[index] = candidate.stale
                } else {
                    removals.append(index)
                }
                continue
            }
            // The fields of a part differ from those of the whole. Updating a response without its body is useless.
            guard mayStore, candidate.status == .ok, candidate.hasIntactBody else { continue }
            var updated = candidate
            if updated.freshen(by: exchange, policy: policy, fingerprint: fingerprint) {
                updates[index] = updated
            } else {
                removals.append(index)
            }
        }
    }
}

extension StoredResponse {
    /// RFC 9111 §4.3.5: "if the stored response and HEAD response have matching values for any received validator
    /// fields (ETag and Last-Modified) and, if the HEAD response has a Content-Length header field, the value of
    /// Content-Length matches that of the stored response". A validator in only one of the two responses does not
    /// match. Two responses without validators do not contradict each other. Different content codings do: the update
    /// would mislabel the stored body.
    fileprivate func isConfirmed(byHead head: HTTPFields) -> Bool {
        for name in [HTTPField.Name.eTag, .lastModified] {
            let value = fields.firstValue(of: name)
            guard value == head.firstValue(of: name), value?.isRepaired != true else { return false }
        }
        if !isBodyDecoded, let coding = head.firstValue(of: .contentEncoding),
            coding != fields.firstValue(of: .contentEncoding)
        {
            return false
        }
        // The Content-Length of a part may differ from that of the whole.
        guard status == .ok, let length = head.firstValue(of: .contentLength) else { return true }
        return fields.firstValue(of: .contentLength) == length
    }

    /// This response with the greatest age that a field can state. The response is then stale for any lifetime that an
    /// origin can state in seconds, and too stale to answer while it is revalidated. The next validation removes the
    /// age.
    fileprivate var stale: StoredResponse {
        var stale = self
        stale.fields[.age] = String(DeltaSeconds.limit)
        return stale
    }
}

extension HTTPFields {
    /// The bytes of the first line of a field, or `nil` for an absent or empty line.
    fileprivate func firstValue(of name: HTTPField.Name) -> [UInt8]? {
        firstBytes(of: name).flatMap { $0.isEmpty ? nil : $0 }
    }
}
