package import HTTPTypes

/// What is to be done with the reply of an origin, once its head is there.
package enum ReplyDecision: Hashable, Sendable {
    /// A 304: the updated stored responses replace those at their places, and the one at `answerWith` answers, with the
    /// body it has. With `removeAfterUse` they are removed instead of replaced.
    case freshen([Int: StoredResponse], answerWith: Int, removeAfterUse: Bool)
    /// The reply is delivered, and stored as this once its body is complete. It replaces what is stored for its selection.
    case store(StoredResponse)
    /// The reply, a 206, is delivered, and its part stored as this.
    case storePart(StoredResponse)
    /// The reply is the rest of the part at this place: both are delivered, and stored as this, the whole.
    case complete(Int, StoredResponse)
    /// The reply is an error, and the stored response at this place is delivered in its stead (RFC 5861 §4).
    case standIn(Int)
    /// The reply, to a HEAD, is delivered. The updated responses replace those at their indices, and the responses at the
    /// other indices are removed (RFC 9111 §4.3.5).
    case update([Int: StoredResponse], removing: [Int])
    /// The reply is delivered and not stored. With `removeStored` all that is stored for its key goes.
    case relay(removeStored: Bool)
    /// A reply to a question of the cache's own that nothing stored can answer: the request is to be sent once more, as the
    /// caller made it. What is stored at these places is of no use and goes.
    ///
    /// An origin that answers that with a 304, too, is broken; the caller has to count.
    case retry(removing: [Int])

    /// What the cache asked for of its own.
    package enum Question: Hashable, Sendable {
        /// Nothing.
        case none
        /// Whether the stored response at this place is still good.
        case validation(Int)
        /// The rest of the part at this place.
        case rest(Int)
    }

    /// What is to be done with the reply of `exchange`.
    ///
    /// - Parameters:
    ///   - exchange: The request as it was sent, and its reply.
    ///   - original: The request as the caller made it.
    ///   - candidates: All stored responses for the key, as they were for the ``CacheDecision``.
    ///   - question: What the request carried of the cache's own.
    ///   - policy: The policy that the request was made under.
    ///   - fingerprint: What stands for credentials in a ``RequestSelection``.
    package static func make(
        _ exchange: Exchange, original: HTTPRequest, candidates: [StoredResponse], question: Question,
        policy: CachePolicy, fingerprint: @escaping RequestSelection.Fingerprint
    ) -> ReplyDecision {
        let context = Context(
            exchange: exchange, original: original, candidates: candidates, policy: policy, fingerprint: fingerprint)
        let status = exchange.reply.status
        if status == .notModified { return context.notModified(question) }
        if let failure = StandIn.Failure(status), let index = context.standIn(for: failure) { return .standIn(index) }
        if case .rest(let index) = question { return context.rest(of: index) }
        if exchange.request.method == .head { return context.head() }
        if status == .partialContent { return context.part() }
        return context.whole()
    }

    private struct Context {
        let exchange: Exchange
        let original: HTTPRequest
        let candidates: [StoredResponse]
        let policy: CachePolicy
        let fingerprint: RequestSelection.Fingerprint

        private var fields: HTTPFields { exchange.reply.headerFields }

        // MARK: 304

        func notModified(_ question: Question) -> ReplyDecision {
            let isAskedByCaller = RequestDirectives(original, mode: policy.mode).isConditional
            let validated: Int
            switch question {
            case .validation(let index): validated = index
            // The caller asked whether what it has is still good, and this is the answer.
            case .none where isAskedByCaller: return .relay(removeStored: policy.storesNothing)
            case .none: return .retry(removing: [])
            // An origin that answers so would do it again.
            case .rest(let index): return .retry(removing: [index])
            }
            // A date of the caller's has given way to the stored validators; its tags went along with them.
            let ownTags = Preconditions(original).entityTags
            let freshening = Freshening(
                exchange, candidates: candidates, validated: validated, isUnambiguous: ownTags.isEmpty,
                policy: policy, fingerprint: fingerprint)
            guard let freshening else {
                return isAbout(ownTags) ? .relay(removeStored: false) : .retry(removing: [])
            }
            return .freshen(
                freshening.updates, answerWith: freshening.answer, removeAfterUse: freshening.removesAfterUse)
        }

        /// RFC 9111 §4.3.3: of the tags that were asked about, a 304 may be about one of the caller's. One that does not say
        /// of which is taken for that only if no others were asked about.
        private func isAbout(_ ownTags: [EntityTag]) -> Bool {
            guard !ownTags.isEmpty else { return false }
            let sent = exchange.request.headerFields[fields: .ifNoneMatch]
            if sent == original.headerFields[fields: .ifNoneMatch] { return true }
            guard let tag = EntityTag(fields) else { return false }
            return ownTags.contains { $0.isWeaklyEqual(to: tag) }
        }

        // MARK: Errors

        func standIn(for failure: StandIn.Failure) -> Int? {
            StandIn.choose(
                for: original, candidates: candidates, failure: failure, policy: policy, now: exchange.responseTime,
                fingerprint: fingerprint)
        }

        // MARK: Whole responses

        func whole() -> ReplyDecision {
            let storability = Storability(
                status: exchange.reply.status, fields: fields, request: original, policy: policy)
            if case .notStorable(let removesStored) = storability { return .relay(removeStored: removesStored) }
            return stored(part: nil).map(ReplyDecision.store) ?? .relay(removeStored: false)
        }

        /// `nil` if it would never be found again: RFC 9111 §4.1, a `Vary` with "*" matches no request.
        private func stored(part: StoredPart?) -> StoredResponse? {
            let selection = RequestSelection.make(
                response: fields, request: original, fingerprint: fingerprint,
                nominatesAuthorization: !policy.isShared)
            guard let selection else { return nil }
            return StoredResponse(
                status: exchange.reply.status, fields: fields.storedFields(receivedAt: exchange.responseTime),
                requestTime: exchange.requestTime, responseTime: exchange.responseTime, selection: selection,
                isBodyDecoded: exchange.isBodyDecoded, part: part)
        }

        func head() -> ReplyDecision {
            let update = HeadUpdate(
                exchange, candidates: candidates, policy: policy, fingerprint: fingerprint,
                nominatesAuthorization: !policy.isShared)
            return update.isEmpty
                ? .relay(removeStored: false) : .update(update.updates, removing: update.removals)
        }

        // MARK: Parts

        /// The reply to a request for a range that the caller made.
        func part() -> ReplyDecision {
            guard RangeSet(original) != nil, let part = ContentRange(fields)?.part, !exchange.isBodyDecoded else {
                return .relay(removeStored: false)
            }
            // RFC 9111 §3.3: a part is stored as the whole would be.
            let storability = Storability(status: .ok, fields: fields, request: original, policy: policy)
            if case .notStorable(let removesStored) = storability { return .relay(removeStored: removesStored) }
            guard var response = stored(part: part) else { return .relay(removeStored: false) }
            response.fields.describeWhole(ofLength: part.completeLength)
            return .storePart(response)
        }

        /// The reply to a request for the rest of a stored part.
        func rest(of index: Int) -> ReplyDecision {
            guard candidates.indices.contains(index), let part = candidates[index].part else {
                return .retry(removing: [])
            }
            switch ResumeRequest.outcome(of: exchange, resuming: candidates[index], part: part) {
            case .continues:
                return completion(of: index, part).map { .complete(index, $0) } ?? .retry(removing: [index])
            case .replaces, .answersOtherwise: return whole()
            case .discards: return .retry(removing: [index])
            }
        }
        /// The whole that the stored part and the reply are together; `nil` if they are not, or it must not be stored.
        private func completion(of index: Int, _ part: StoredPart) -> StoredResponse? {
            guard let rest = ContentRange(fields)?.part, let new = stored(part: rest) else { return nil }
            let combination = PartCombination(of: new, part: rest, with: [(candidates[index], part)])
            guard case .combines(let combined) = combination.action, combined.union.isComplete else { return nil }
            let storability = Storability(status: .ok, fields: combined.fields, request: original, policy: policy)
            guard storability == .storable else { return nil }
            var whole = new
            whole.status = .ok
            whole.fields = combined.fields
            whole.part = nil
            return whole
        }
    }
}

extension HTTPFields {
    /// Makes the fields of a part those of the whole that it is a part of.
    mutating func describeWhole(ofLength length: Int64?) {
        self[.contentRange] = nil
        self[.contentLength] = length.map(String.init)
    }
}
