internal import ByteText
internal import CacheFoundation
internal import CacheLoader
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Freshens stale records of the tier by a 304 of the origin (RFC 9111 §4.3.4).
extension SharedTier {
    /// Writes the stale record again that a 304 confirms, after the delivery. Writes the body, too, so that the
    /// engine's retention starts again.
    ///
    /// - Parameters:
    ///   - delay: The time from the request to the head.
    ///   - arrival: The uptime at the arrival of the head.
    ///   - lease: Ends after the write.
    ///   - lookup: Returns the result of the lookup.
    func freshen(
        by reply: HTTPResponse, to request: HTTPRequest, delay: Duration, arrival: Duration, lease: Lease?,
        after lookup: @escaping @Sendable () async -> Lookup
    ) {
        guard canWrite, request.method == .get, let tag = Self.confirmedTag(reply, to: request),
            MalformedReply.reason(reply, to: request) == nil, let tierTime
        else { return }
        let exchange = exchange(request, reply, isBodyDecoded: false, delay: delay, tierTime)
        let isAdmitted = writes.add(byteCount: 0) { [self] in
            let lookup = await lookup()
            guard !lookup.isPresent, let stale = lookup.stale else { return await lease?.end() ?? () }
            let fill: Fill
            switch keeping(
                freshening: stale, tag, by: exchange, arrival: arrival, isFresh: lookup.reason == .request)
            {
            case .fill(let kept): fill = kept
            case .remove:
                await delete(stale.name)
                return await lease?.end() ?? ()
            case .nothing: return await lease?.end() ?? ()
            }
            let byteCount = Int(stale.head.byteCount)
            guard !isBreakerOpen, byteCount <= configuration.maxBodyBytes, writes.reserve(byteCount) else {
                count { $0.droppedWrites += 1 }
                return await lease?.end() ?? ()
            }
            if let body = await body(of: stale) {
                await write(fill, body, for: request, after: lookup)
            } else {
                count { $0.droppedWrites += 1 }
            }
            writes.release(byteCount)
            await lease?.end()
        }
        if !isAdmitted {
            count { $0.droppedWrites += 1 }
            lease?.giveUp()
        }
    }

    /// Returns the strong entity tag that a 304 confirms: its own tag, or the only tag of the request.
    private static func confirmedTag(_ reply: HTTPResponse, to request: HTTPRequest) -> [UInt8]? {
        let own = reply.headerFields.filledLines(.eTag)
        let tags = own.isEmpty ? request.headerFields.filledLines(.ifNoneMatch) : own
        // Accept only one strong tag.
        guard tags.count == 1 else { return nil }
        let tag = tags[0].trimmedBytes
        return tag.isStrongEntityTag && tag.count > 2 ? tag : nil
    }

    /// Decides about a record that a 304 confirms.
    ///
    /// - Parameter isFresh: Whether the record could still answer other requests.
    private func keeping(
        freshening stale: StaleRecord, _ tag: [UInt8], by exchange: Exchange, arrival: Duration, isFresh: Bool
    ) -> Keeping {
        let stored = stale.head.response
        guard stored.fields.filledLines(.eTag).map(\.trimmedBytes) == [tag] else { return .nothing }
        var original = exchange.request
        original.headerFields[fields: .ifNoneMatch] = []
        original.headerFields[fields: .ifModifiedSince] = []
        let decision = ReplyDecision(
            for: exchange, original: original, candidates: [stored], question: .validation(0),
            policy: configuration.policy, fingerprint: layout.fingerprint)
        guard case .freshen(let updates, _, let isRemoved) = decision else { return .nothing }
        if isRemoved { return .remove }
        guard let response = updates[0] else { return .nothing }
        let kept = keeping(of: response, arrival: arrival)
        // Keep a stale record for the next 304.
        if case .remove = kept, !isFresh { return .nothing }
        return kept
    }

    /// Returns the whole body of a record. Returns `nil` if the tier lacks the body or has a record with another body
    /// by now.
    private func body(of stale: StaleRecord) async -> Data? {
        let body = await withTimeLimit(configuration.writeDeadline, configuration.sleep) { [self] () -> Data? in
            guard case .found(let candidate) = await record(stale.name),
                candidate.record.head.digest == stale.head.digest
            else { return nil }
            if let body = candidate.record.body { return body }
            let answer = await get(layout.body(digest: stale.head.digest), limit: Int(stale.head.byteCount))
            guard case .found(let object) = answer else { return nil }
            return object.bytes
        }
        guard let body, let body, SHA256.hash(data: body).hexadecimal == stale.head.digest else { return nil }
        return body
    }
}
