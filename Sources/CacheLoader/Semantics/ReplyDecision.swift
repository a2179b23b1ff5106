internal import HTTPTypes

/// What is to be done with the reply of an origin, once its head is there.
package enum ReplyDecision: Hashable, Sendable {
    /// A 304: the updated stored responses replace those at their places, and the one at `answerWith` answers, with the
    /// body it has. With `removeAfterUse` they are removed instead of replaced.
    case freshen([Int: StoredResponse], answerWith: Int, removeAfterUse: Bool)
    /// The reply is delivered, and stored as this once its body is complete. It replaces what is stored for its selection.
    case store(StoredResponse)
    /// The reply is delivered and not stored. With `removeStored` all that is stored for its key goes.
    case relay(removeStored: Bool)
    /// A 304 that nothing stored can answer: the request is to be sent once more, without conditions of the cache's own.
    ///
    /// An origin that answers 304 to that, too, is broken; the caller has to count.
    case retryUnconditionally

    /// What is to be done with the reply of `exchange`.
    ///
    /// - Parameters:
    ///   - exchange: The request as it was sent, and its reply.
    ///   - candidates: All stored responses for the key, as they were for the ``CacheDecision``.
    ///   - validated: The place of the one whose validators the request carried; `nil` if it carried none of the cache's.
    ///   - policy: The policy that the request was made under.
    ///   - fingerprint: What stands for credentials in a ``RequestSelection``.
    package static func make(
        _ exchange: Exchange, candidates: [StoredResponse], validated: Int?, policy: CachePolicy,
        fingerprint: RequestSelection.Fingerprint
    ) -> ReplyDecision {
        guard exchange.reply.status != .notModified else {
            return notModified(exchange, candidates, validated, policy, fingerprint)
        }
        let fields = exchange.reply.headerFields
        let storability = Storability(
            status: exchange.reply.status, fields: fields, request: exchange.request, policy: policy)
        if case .notStorable(let removesStored) = storability { return .relay(removeStored: removesStored) }
        // RFC 9111 §4.1: a Vary with "*" matches no request, so it would never be found again.
        guard
            let selection = RequestSelection.make(
                response: fields, request: exchange.request, fingerprint: fingerprint)
        else { return .relay(removeStored: false) }
        return .store(
            StoredResponse(
                status: exchange.reply.status,
                fields: fields.storedFields(receivedAt: exchange.responseTime),
                requestTime: exchange.requestTime, responseTime: exchange.responseTime,
                selection: selection, isBodyDecoded: exchange.isBodyDecoded))
    }

    private static func notModified(
        _ exchange: Exchange, _ candidates: [StoredResponse], _ validated: Int?, _ policy: CachePolicy,
        _ fingerprint: RequestSelection.Fingerprint
    ) -> ReplyDecision {
        guard let validated else {
            // The caller asked whether what it has is still good, and this is the answer.
            let directives = RequestDirectives(exchange.request, mode: policy.mode)
            return directives.isConditional ? .relay(removeStored: policy.storesNothing) : .retryUnconditionally
        }
        guard
            let freshening = Freshening(
                exchange, candidates: candidates, validated: validated, policy: policy, fingerprint: fingerprint)
        else { return .retryUnconditionally }
        return .freshen(
            freshening.updates, answerWith: freshening.answer, removeAfterUse: freshening.removesAfterUse)
    }
}
