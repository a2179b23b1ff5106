internal import CacheFoundation
internal import CacheLoader

/// Freshens stale records of the tier by a 304 of the origin (RFC 9111 §4.3.4).
extension SharedTier {
    /// Writes the records again that a 304 confirms, after the delivery. A body outside its record stays as it is,
    /// unless its retention is about to end.
    func freshen(
        _ updates: [Int: StoredResponse], isRemoved: Bool, to request: HTTPRequest, _ asking: Asking,
        after lookup: Lookup
    ) {
        guard canWrite else { return }
        let arrival = configuration.uptime()
        for (index, response) in updates {
            let candidate = lookup.candidates[index]
            let kept = keeping(of: response, to: request, arrival: arrival, asking)
            switch kept {
            case .fill(let fill) where !isRemoved:
                let isAdmitted = writes.add { [self] in
                    await freshen(candidate, by: fill, for: request, after: lookup)
                }
                if !isAdmitted { count { $0.droppedWrites += 1 } }
            case .remove where !isRemoved && lookup.reason != .request:
                // A stale record stays for the next 304 if this one is not fresh either.
                break
            case .nothing where !isRemoved: break
            default: remove([candidate], olderThan: response.responseTime)
            }
        }
    }

    private func freshen(
        _ candidate: Candidate, by fill: Fill, for request: HTTPRequest, after lookup: Lookup
    ) async {
        // Another machine may have written another representation since the lookup.
        guard case .found(let present) = await record(candidate.name),
            present.record.head.digest == candidate.record.head.digest
        else { return }
        let old = candidate.record.head
        let bodyAge = (tierTime?.secondsSince1970 ?? 0) - old.bodyWrittenAt
        // Write at three quarters of the retention, because the next 304 may come after its end.
        let isBodyDue =
            candidate.record.body == nil
            && configuration.retention.map { bodyAge > ($0 * 3 / 4).components.seconds } ?? false
        await write(
            fill, for: request, after: lookup,
            { times in
                var record = candidate.record
                record.head.response = fill.response
                record.setTimes(times)
                if isBodyDue { record.head.bodyWrittenAt = times.writtenAt.secondsSince1970 }
                return record
            },
            writeBody: { [self] (record) throws(TierEngineError) in
                if isBodyDue { try await writeBodyAgain(of: record) }
            })
    }

    /// Writes a body outside its record again, so that the retention of the engine starts again.
    private func writeBodyAgain(of record: TierRecord) async throws(TierEngineError) {
        let name = layout.body(digest: record.head.digest)
        guard case .found(let object) = await open(name) else { throw .refused("the body is absent") }
        let body = VerifiedBody(object.body, of: record)
        var bytes = Data()
        while case .chunk(let chunk) = await body.next(within: configuration.bodyDeadline, configuration.sleep) {
            bytes += chunk
        }
        guard bytes.count == record.head.byteCount else { throw .refused("the body is incomplete") }
        try await put(bytes, as: name)
    }
}
