internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Writes responses of the origin after their delivery.
extension SharedTier {
    /// A response of the origin that the tier keeps once its body is complete.
    struct Fill: Sendable {
        let response: StoredResponse
        /// The uptime at the arrival of the head.
        let arrival: Duration

        /// Whether a body matches the length and the digests in its head (RFC 9111 §3.3, RFC 9530).
        ///
        /// Always checked, even if the policy verifies nothing: one machine's damaged response must not reach all
        /// machines.
        func fits(_ body: Data) -> Bool {
            let (fields, isDecoded) = (response.fields, response.isBodyDecoded)
            let length = fields[.contentLength].flatMap { Int($0) }
            if !isDecoded, let length, length != body.count { return false }
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
        /// The tier keeps the response.
        case fill(Fill)
        /// The tier keeps neither the response nor older ones, which would answer the next request.
        case remove
        /// The reply has no effect on the record of the tier.
        case nothing
    }

    /// Whether the tier might store the response to a request.
    func mayWrite(_ request: HTTPRequest) -> Bool {
        guard canWrite, request.method == .get, request.headerFields[.range] == nil else { return false }
        let control = CacheControl(request.headerFields)
        return !control.noStore && !control.onlyIfCached
    }

    /// Decides about a whole reply.
    ///
    /// - Parameters:
    ///   - delay: The time from the request to the head.
    ///   - arrival: The uptime at the arrival of the head.
    func keeping(
        of reply: TransportResponse, to request: HTTPRequest, delay: Duration, arrival: Duration
    ) -> Keeping {
        let status = reply.head.status
        // Other errors are short-lived, and one machine's error must not reach all machines.
        guard keys.canWrite, request.method == .get, status.code < 400 || status == .notFound || status == .gone,
            MalformedReply.reason(reply.head, to: request) == nil,
            let tierTime
        else { return .nothing }
        let exchange = exchange(request, reply.head, isBodyDecoded: reply.isBodyDecoded, delay: delay, tierTime)
        let decision = ReplyDecision(
            for: exchange, original: request, candidates: [], question: .none, policy: configuration.policy,
            fingerprint: layout.fingerprint)
        switch decision {
        case .store(let response): return keeping(of: response, arrival: arrival)
        case .relay(removeStored: true):
            let isForOneUser =
                request.headerFields[.authorization] != nil || CacheControl(reply.head.headerFields).isPrivate
            return configuration.policy.isShared && isForOneUser ? .nothing : .remove
        default: return .nothing
        }
    }

    /// Decides about a response that may be stored. The tier does not keep unusable responses.
    func keeping(of response: StoredResponse, arrival: Duration) -> Keeping {
        guard CacheGroups(response.fields).names.count <= TierLayout.maxTagCount else {
            count { $0.droppedWrites += 1 }
            return .remove
        }
        guard maySharePersonal(response.fields) else { return .nothing }
        let freshness = Freshness(of: response, policy: configuration.policy)
        guard freshness.isFresh(at: response.responseTime), !freshness.alwaysNeedsValidation else { return .remove }
        return .fill(Fill(response: response, arrival: arrival))
    }

    /// Deletes the records that a lookup has found, unless they are newer than a reply that the tier does not keep.
    ///
    /// A record may be newer if the reply came from a cache in front of the origin, or if another machine has just
    /// written the record.
    func removeRecords(olderThan reply: HTTPResponse, foundBy lookup: @escaping @Sendable () async -> Lookup) {
        guard let tierTime else { return }
        let date = reply.headerFields.date(.date, now: tierTime) ?? tierTime
        // Without room, the record ends with its freshness lifetime.
        _ = writes.add(byteCount: 0) { [self] in
            for name in await lookup().recordNames {
                guard case .found(let candidate) = await record(name),
                    candidate.record.head.response.responseTime <= date
                else { continue }
                await delete(name)
            }
        }
    }

    /// Returns an exchange at the reply's own `Date`, independent of the clock of this machine.
    func exchange(
        _ request: HTTPRequest, _ reply: HTTPResponse, isBodyDecoded: Bool, delay: Duration, _ tierTime: HTTPDate
    ) -> Exchange {
        let date = reply.headerFields.date(.date, now: tierTime) ?? tierTime
        return Exchange(
            request: request, reply: reply, requestTime: date.advanced(by: -delay.components.seconds),
            responseTime: date, isBodyDecoded: isBodyDecoded)
    }

    /// Whether fields that set a cookie may reach all users, which the origin must permit explicitly.
    private func maySharePersonal(_ fields: HTTPFields) -> Bool {
        guard configuration.policy.isShared, fields[.setCookie] != nil else { return true }
        let control = CacheControl(fields)
        if case .seconds = control.sharedMaxAge { return true }
        return control.isPublic
    }

    /// Writes a complete response: the body first, then its record, then the names in `Vary`.
    func write(_ fill: Fill, _ body: Data, for request: HTTPRequest, after lookup: Lookup) async {
        guard let scopes = lookup.epochs, !isBreakerOpen,
            let tags = await tagEpochs(of: fill.response, request.url, after: lookup), let written = tierTime
        else {
            return count { $0.droppedWrites += 1 }
        }
        let key = layout.key(of: request.url)
        let name = layout.response(key, fill.response.varyKey)
        let held = configuration.uptime() - fill.arrival
        let record = TierRecord(
            fill.response, body: body, heldSeconds: held.components.seconds + (held.components.attoseconds > 0 ? 1 : 0),
            writtenAt: written, epochs: scopes + tags)
        do {
            guard let object = SealedObject.sealing(try record.encoded(), as: name, with: keys) else { return }
            if record.body == nil { try await write(body, as: layout.body(digest: record.head.digest)) }
            try await write(object, as: name)
            try await writeVary(fill.response, key, lookup)
            change { state in
                state.statistics.writes += 1
                state.refused[name] = nil
            }
        } catch {
            if let error = error as? WriteFailure { noteFailure(error) }
            count { $0.failedWrites += 1 }
        }
    }

    /// Records that the engine did not answer a write, or does not support conditional writes.
    func noteFailure(_ failure: WriteFailure) {
        if failure.isUnconditional { state.withLock { $0.lacksConditions = true } }
        guard !failure.isRefusal else { return }
        let now = configuration.uptime()
        change { $0.breaker.failed(from: failure.start, to: now) }
    }

    /// Writes the names in `Vary`, unless the tier has them. A response without `Vary` needs no names.
    private func writeVary(_ response: StoredResponse, _ key: String, _ lookup: Lookup) async throws(WriteFailure) {
        let names = response.varyKey.lines.map { String($0.prefix { $0 != ":" }) }.joined(separator: "\n")
        guard !names.isEmpty, names != lookup.varyNames,
            let object = SealedObject.sealing(Data(names.utf8), as: layout.vary(key), with: keys)
        else { return }
        try await write(object, as: layout.vary(key))
    }
}
