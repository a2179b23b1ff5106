/// Decides about the reply of an origin once its head has arrived (RFC 9111 §3, §4.3.3 to §4.3.5).
///
/// A pure function of its arguments, safe on any thread. Costs one pass over the fields of the reply and of each
/// candidate.
public struct ReplyDecision: Hashable, Sendable {
    /// The action of the cache. An index refers to the candidates of the decision.
    public enum Action: Hashable, Sendable {
        /// Freshens stored responses by a 304. Replace the stored responses at these indices with the updated ones, or
        /// with `removeAfterUse` remove them. The response at `answerWith` answers with its stored body. It is
        /// validated, so pass no age to ``StoredAnswer``.
        case freshen([Int: StoredResponse], answerWith: Int, removeAfterUse: Bool)
        /// Delivers the reply, and stores this response once its body is complete. It replaces the stored response with
        /// an equal ``StoredResponse/varyKey``. For a 206 that has all bytes, this response is a 200.
        case store(StoredResponse)
        /// Delivers a 206, and stores its part as this response. A cache without support for parts only delivers it.
        case storePart(StoredResponse)
        /// Delivers the stored part at this index and then the reply, which contains the remaining bytes. Stores both
        /// as this whole response.
        case complete(Int, StoredResponse)
        /// Serves the stored response at this index stale instead of the reply, which is an error (RFC 5861 §4).
        case serveStale(Int)
        /// Delivers the reply to a HEAD (RFC 9111 §4.3.5). Replaces the stored responses at these indices with the
        /// updated ones, and removes those in `removing`.
        case update([Int: StoredResponse], removing: [Int])
        /// Delivers the reply without storing it. With `removeStored`, all stored responses for its URL are removed.
        case relay(removeStored: Bool)
        /// Repeats the request as the caller made it. The reply answers the cache's question, but no stored response
        /// can answer the request. Removes the unusable stored responses at these indices.
        ///
        /// A broken origin answers the second request with another 304, so the cache must limit its retries.
        case retry(removing: [Int])
    }

    /// The question that the cache added to the request. See ``ReuseDecision/question``.
    public enum Question: Hashable, Sendable {
        /// No question.
        case none
        /// Whether the stored response at this index is still valid.
        case validation(Int)
        /// The remaining bytes of the part at this index.
        case rest(Int)
    }

    /// The action of the cache.
    public let action: Action
    /// The reason for the action.
    public let rule: Rule

    package init(_ action: Action, rule: Rule) {
        self.action = action
        self.rule = rule
    }

    /// Decides about the reply of `exchange`.
    ///
    /// - Parameters:
    ///   - exchange: The request as sent, and its reply.
    ///   - original: The request as the caller made it.
    ///   - candidates: The candidates of the ``ReuseDecision``, in the same order.
    ///   - question: The question that the cache added to the request.
    ///   - policy: The policy under which the request was made.
    ///   - fingerprint: Replaces credentials in a ``VaryKey``.
    public init(
        for exchange: Exchange, original: HTTPRequest, candidates: [StoredResponse], question: Question,
        policy: CachePolicy, fingerprint: @escaping VaryKey.Fingerprint
    ) {
        let context = Context(
            exchange: exchange, original: original, candidates: candidates, policy: policy, fingerprint: fingerprint)
        let status = exchange.reply.status
        if status == .notModified {
            self = context.notModified(question)
        } else if let index = context.staleFallback {
            // RFC 9111 §4.3.3: after a 5xx, a cache may "act as if the server failed to respond", and "send a
            // previously stored response".
            self = ReplyDecision(.serveStale(index), rule: .staleOnError)
        } else if case .rest(let index) = question {
            self = context.rest(of: index)
        } else if exchange.request.method == .head {
            self = context.head()
        } else if status == .partialContent {
            self = context.part()
        } else {
            self = context.whole()
        }
    }

    private struct Context {
        let exchange: Exchange
        let original: HTTPRequest
        let candidates: [StoredResponse]
        let policy: CachePolicy
        let fingerprint: VaryKey.Fingerprint

        private var fields: HTTPFields { exchange.reply.headerFields }

        // MARK: 304

        func notModified(_ question: Question) -> ReplyDecision {
            let isAskedByCaller = RequestDirectives(original, mode: policy.mode).isConditional
            let validated: Int
            switch question {
            case .validation(let index): validated = index
            // The caller's own condition asked for validation, and the 304 answers it.
            case .none where isAskedByCaller:
                return relay(removeStored: policy.storesNothing, .replyWithoutBody)
            case .none: return retry()
            // An origin that replies to a range request with a 304 would repeat that reply.
            case .rest(let index): return retry(removing: [index])
            }
            // The forwarded request had the stored validators instead of the caller's date, and the caller's tags in
            // addition.
            let ownTags = Preconditions(original).entityTags
            let freshening = Freshening(
                exchange, candidates: candidates, validated: validated, isUnambiguous: ownTags.isEmpty,
                policy: policy, fingerprint: fingerprint)
            guard let freshening else {
                return isAbout(ownTags) ? relay(.replyWithoutBody) : retry()
            }
            let action = Action.freshen(
                freshening.updates, answerWith: freshening.answer, removeAfterUse: freshening.removesAfterUse)
            return ReplyDecision(action, rule: .freshenedByReply)
        }

        /// Whether a 304 validates one of the caller's tags (RFC 9111 §4.3.3). A 304 without a tag does so only if the
        /// request had no tags of the cache.
        private func isAbout(_ ownTags: [EntityTag]) -> Bool {
            guard !ownTags.isEmpty else { return false }
            let sent = exchange.request.headerFields[fields: .ifNoneMatch]
            if sent == original.headerFields[fields: .ifNoneMatch] { return true }
            guard let tag = EntityTag(fields) else { return false }
            return ownTags.contains { $0.isWeaklyEqual(to: tag) }
        }

        // MARK: Errors

        var staleFallback: Int? {
            StaleFallback.choose(
                for: original, candidates: candidates, status: exchange.reply.status, policy: policy,
                now: exchange.responseTime, fingerprint: fingerprint)
        }

        // MARK: Whole responses

        func whole() -> ReplyDecision {
            // Some servers label the requested part as a 200.
            if exchange.request.headerFields.contains(.range), fields.contains(.contentRange) {
                return relay(.unusablePart)
            }
            let storage = StorageDecision(
                status: exchange.reply.status, fields: fields, request: original, policy: policy)
            guard storage.isStorable else { return relay(removeStored: storage.removesStored, storage.rule) }
            guard let response = stored(part: nil) else { return relay(.varyMatchesNothing) }
            return ReplyDecision(.store(response), rule: storage.rule)
        }

        /// Returns the response to store, or `nil` when no request can match it, as for a `Vary` with "*" (RFC 9111
        /// §4.1).
        private func stored(part: StoredPart?) -> StoredResponse? {
            let varyKey = VaryKey(
                response: fields, request: original, fingerprint: fingerprint,
                nominatesAuthorization: !policy.isShared)
            guard let varyKey else { return nil }
            return StoredResponse(
                status: exchange.reply.status, fields: fields.storedFields(receivedAt: exchange.responseTime),
                requestTime: exchange.requestTime, responseTime: exchange.responseTime, varyKey: varyKey,
                isBodyDecoded: exchange.isBodyDecoded, part: part)
        }

        func head() -> ReplyDecision {
            let update = HeadUpdate(exchange, candidates: candidates, policy: policy, fingerprint: fingerprint)
            guard !update.isEmpty else { return relay(.replyWithoutBody) }
            return ReplyDecision(.update(update.updates, removing: update.removals), rule: .freshenedByReply)
        }

        // MARK: Parts

        /// Decides about the reply to a range request of the caller.
        func part() -> ReplyDecision {
            guard RangeSet(original) != nil, let part = StoredPart(contentRange: fields), !exchange.isBodyDecoded else {
                return relay(.unusablePart)
            }
            // RFC 9111 §3.3: a part follows the rules for the whole.
            let storage = StorageDecision(status: .ok, fields: fields, request: original, policy: policy)
            guard storage.isStorable else { return relay(removeStored: storage.removesStored, storage.rule) }
            guard var response = stored(part: part) else { return relay(.varyMatchesNothing) }
            response.fields.describeWhole(ofLength: part.completeLength)
            // A 206 with all bytes has the whole representation. Content-Length lets the cache notice missing bytes.
            guard part.isComplete, fields.statedContentLength == part.byteCount else {
                return ReplyDecision(.storePart(response), rule: storage.rule)
            }
            response.status = .ok
            response.part = nil
            return ReplyDecision(.store(response), rule: storage.rule)
        }

        /// Decides about the reply to the cache's request for the rest of a stored part.
        func rest(of index: Int) -> ReplyDecision {
            guard candidates.indices.contains(index), let part = candidates[index].part else {
                return retry()
            }
            switch ResumeRequest.outcome(of: exchange, resuming: candidates[index], part: part) {
            case .continues:
                return completion(of: index, part) ?? retry(removing: [index])
            case .replaces, .answersOtherwise: return whole()
            case .discards: return retry(removing: [index])
            }
        }

        /// Stores the whole that the stored part and the reply form. Returns `nil` if they form none, or if it may not
        /// be stored.
        private func completion(of index: Int, _ part: StoredPart) -> ReplyDecision? {
            guard let rest = StoredPart(contentRange: fields), var new = stored(part: rest) else { return nil }
            // RFC 9110 §15.3.7: a server that has compared the date in If-Range may omit Last-Modified.
            if new.fields.filledLines(.eTag).isEmpty, new.fields.filledLines(.lastModified).isEmpty {
                new.fields[fields: .lastModified] = candidates[index].fields[fields: .lastModified]
            }
            let combination = PartCombination(of: new, part: rest, with: [(candidates[index], part)])
            guard case .combines(let combined) = combination.action, combined.union.isComplete else { return nil }
            let storage = StorageDecision(status: .ok, fields: combined.fields, request: original, policy: policy)
            guard storage.isStorable else { return nil }
            var whole = new
            whole.status = .ok
            whole.fields = combined.fields
            whole.part = nil
            return ReplyDecision(.complete(index, whole), rule: storage.rule)
        }

        // MARK: Without storing

        private func relay(removeStored: Bool = false, _ rule: Rule) -> ReplyDecision {
            ReplyDecision(.relay(removeStored: removeStored), rule: rule)
        }

        private func retry(removing indices: [Int] = []) -> ReplyDecision {
            ReplyDecision(.retry(removing: indices), rule: .nothingAnswers)
        }
    }
}
