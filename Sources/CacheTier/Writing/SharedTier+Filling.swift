internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import Synchronization

/// Writes responses of the origin after their delivery.
extension SharedTier {
    /// A response of the origin that the tier keeps once its body is complete.
    struct Fill: Sendable {
        let response: StoredResponse
        /// The uptime at the arrival of the head.
        let arrival: Duration
        let asking: Asking

        /// Whether a body matches the length and the digests in its head (RFC 9111 §3.3, RFC 9530).
        func fits(_ body: Data) -> Bool {
            let (fields, isDecoded) = (response.fields, response.isBodyDecoded)
            let length = fields[.contentLength].flatMap { Int($0) }
            if !isDecoded, let length, length != body.count { return false }
            // Even if the policy verifies nothing: one machine's damaged response must not reach all machines.
            let digests = IntegrityDigests.ofContent(
                HTTPResponse(status: response.status, headerFields: fields), to: .get, isBodyDecoded: isDecoded,
                policy: CachePolicy(verifiesDigests: true))
            guard var check = DigestCheck(digests, isStored: false) else { return true }
            check.update(body)
            return check.mismatch() == nil
        }
    }

    /// The effect of an origin's reply on the tier.
    enum Keeping: Sendable {
        case fill(Fill)
        /// The tier keeps neither the response nor older ones, which would answer the next request.
        case remove
        /// The reply has no effect on the record of the tier.
        case nothing
    }

    /// The time of a request to the origin.
    struct Asking: Sendable {
        /// The uptime before the request.
        let start: Duration
        /// The tier's time before the request, or `nil` if the engine has not answered before.
        let tierTime: HTTPDate?
    }

    /// Decides about a reply that the rules permit to store, or not.
    func keeping(
        _ decision: ReplyDecision, of reply: TransportResponse, to request: HTTPRequest, _ asking: Asking
    ) -> Keeping {
        let status = reply.head.status
        // Other errors are short-lived, and one machine's error must not reach all machines.
        guard keys.canWrite, request.method == .get, status.code < 400 || status == .notFound || status == .gone,
            MalformedReply.reason(reply.head, to: request) == nil,
            // Without either, only the clock of this machine would date the response.
            asking.tierTime != nil || reply.head.headerFields.contains(.date)
        else { return .nothing }
        switch decision.action {
        case .store(let response):
            return keeping(of: response, to: request, arrival: configuration.uptime(), asking)
        case .relay(removeStored: true):
            let isForOneUser =
                request.headerFields[.authorization] != nil || CacheControl(reply.head.headerFields).isPrivate
            return configuration.policy.isShared && isForOneUser ? .nothing : .remove
        default: return .nothing
        }
    }

    /// Decides about a response that may be stored. The tier does not keep unusable responses.
    func keeping(
        of response: StoredResponse, to request: HTTPRequest, arrival: Duration, _ asking: Asking
    ) -> Keeping {
        // A reader checks each tag. With some of the tags ignored, their removals would not reach the response.
        guard CacheGroups(response.fields).names.count <= TierLayout.maxTagCount else {
            count { $0.droppedWrites += 1 }
            return .remove
        }
        guard maySharePersonal(response.fields) else { return .nothing }
        let freshness = Freshness(of: response, policy: policy(for: request))
        guard freshness.isFresh(at: response.responseTime), !freshness.alwaysNeedsValidation else {
            return hasHabit(request) ? .nothing : .remove
        }
        return .fill(Fill(response: response, arrival: arrival, asking: asking))
    }

    /// Deletes records that a lookup has found, unless they are newer than a reply that the tier does not keep.
    func remove(_ candidates: [Candidate], olderThan date: HTTPDate) {
        guard keys.canWrite, !candidates.isEmpty else { return }
        // Without room, the record ends with its freshness lifetime.
        writes.add { [self] in
            for name in candidates.map(\.name) {
                // A record may be newer if the reply came from a cache in front of the origin, or if another machine
                // has just written the record.
                guard case .found(let candidate) = await record(name),
                    candidate.record.head.response.responseTime <= date
                else { continue }
                try? await delete(name)
            }
        }
    }

    /// Returns an exchange at the reply's own `Date`, independent of the clock of this machine.
    func exchange(_ request: HTTPRequest, _ reply: TransportResponse, _ asking: Asking) -> Exchange {
        let delay = (configuration.uptime() - asking.start).components.seconds
        let reference = asking.tierTime ?? HTTPDate(configuration.clock())
        let date = reply.head.headerFields.date(.date, now: reference) ?? reference
        return Exchange(
            request: request, reply: reply.head, requestTime: date.advanced(by: -delay), responseTime: date,
            isBodyDecoded: reply.isBodyDecoded)
    }

    /// Whether fields that set a cookie may reach all users, which the origin must permit explicitly.
    private func maySharePersonal(_ fields: HTTPFields) -> Bool {
        guard configuration.policy.isShared, fields[.setCookie] != nil else { return true }
        let control = CacheControl(fields)
        if case .seconds = control.sharedMaxAge { return true }
        return control.isPublic
    }

    /// Writes a complete response: the body first, then its record, then the object of the URL if it lacks the names.
    func write(_ fill: Fill, _ body: Data, for request: HTTPRequest, after lookup: Lookup) async {
        guard fill.fits(body) else { return count { $0.droppedWrites += 1 } }
        await write(fill, for: request, after: lookup, { TierRecord(fill.response, body: body, $0) }) {
            [self] (record) throws(TierEngineError) in
            if record.body == nil { try await put(body, as: layout.body(digest: record.head.digest)) }
        }
    }

    /// Writes a record, and the object of the URL if it lacks the names in `Vary`. `writeBody` may write the body.
    func write(
        _ fill: Fill, for request: HTTPRequest, after lookup: Lookup,
        _ makeRecord: (TierRecord.Times) -> TierRecord,
        writeBody: (TierRecord) async throws(TierEngineError) -> Void
    ) async {
        let key = layout.key(of: request.url)
        let scopes = layout.scopes(of: request) + layout.tags(of: fill.response.fields, url: request.url)
        guard !isBreakerOpen else { return count { $0.droppedWrites += 1 } }
        let name = layout.record(key, fill.response.varyKey)
        do throws(TierEngineError) {
            let known = try await knownKey(key, after: lookup)
            guard let times = times(of: fill) else { throw .unavailable("the engine has not stated its time") }
            let requestedAt = times.requestedAt.secondsSince1970
            let ownRemoval = ownRemoval(of: scopes + [layout.keyObject(key)])
            // This process has removed the response since the request (RFC 9111 §4.4).
            guard ownRemoval.map({ requestedAt > $0 }) ?? true else { return count { $0.droppedWrites += 1 } }
            let names = fill.response.varyKey.names
            guard known?.names.contains(names) ?? true else {
                // The change removes the older responses, this one included. The next response is written.
                try await writeKey(known?.adding(names, at: times.writtenAt) ?? KeyObject(names: [names]), key)
                return count { $0.droppedWrites += 1 }
            }
            var record = makeRecord(times)
            guard known?.removedAt.map({ requestedAt > $0 }) ?? true else { return count { $0.droppedWrites += 1 } }
            // In this order, a kill in between leaves objects without a name, and no name without its objects.
            try await writeBody(record)
            // After the body, whose write may take longer than readers accept: see `TierRecord.longestWrite`.
            record.setTimes(self.times(of: fill) ?? times)
            guard let encoded = try? record.encoded() else { return count { $0.droppedWrites += 1 } }
            try await putSealed(encoded, as: name)
            // Write only if absent: another machine may have written a removal or other names since the read.
            if known == nil { try await writeKey(KeyObject(names: [names]), key, onlyIfAbsent: true) }
            change { state in
                state.statistics.writes += 1
                state.refused[name] = nil
            }
        } catch {
            count { $0.failedWrites += 1 }
        }
    }

    /// Returns the present times for a record of `fill`, or `nil` if the engine has not answered yet.
    private func times(of fill: Fill) -> TierRecord.Times? {
        guard let written = tierTime else { return nil }
        let now = configuration.uptime()
        return TierRecord.Times(
            heldSeconds: (now - fill.arrival).roundedUpSeconds, writtenAt: written,
            // Rounded to an earlier second: a response must not seem newer than a removal that it precedes.
            requestedAt: fill.asking.tierTime ?? written.advanced(by: -(now - fill.asking.start).roundedUpSeconds))
    }

    /// Reads once more if the lookup has not read it. Returns `nil` if the engine has no object of the URL.
    private func knownKey(_ key: String, after lookup: Lookup) async throws(TierEngineError) -> KeyObject? {
        var answer = lookup.keyObject
        switch answer {
        case .failed: answer = await readKeyObject(key)
        // Without conditional writes, the write would replace the object of a removal since the lookup.
        case .absent where !engine.hasConditionalWrites: answer = await readKeyObject(key)
        case .absent, .found: break
        }
        switch answer {
        case .found(let object): return object
        case .absent: return nil
        case .failed(let error): throw error
        }
    }

    func writeKey(_ object: KeyObject, _ key: String, onlyIfAbsent: Bool = false) async throws(TierEngineError) {
        let start = configuration.uptime()
        if try await putSealed(object.encoded(), as: layout.keyObject(key), onlyIfAbsent: onlyIfAbsent) {
            remember(object, of: key, readAt: start)
        }
    }
}

extension Duration {
    fileprivate var roundedUpSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
