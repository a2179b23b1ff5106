public import CacheStore

/// The decision of the cache on the reply of the origin, and the rule that decided.
public struct RecordedReplyDecision: Hashable, Sendable {
    /// The effect of a decision.
    @nonexhaustive
    public enum Action: String, Hashable, Sendable {
        /// The reply is stored once its body is complete.
        case stored
        /// The reply is delivered and not stored.
        case relayed
        /// The reply, a 304 or the answer to a HEAD, has freshened a stored response.
        case freshened
        /// A stored response answers in place of the reply.
        case replaced
    }

    /// The effect.
    public let action: Action
    /// The rule that decided, with its section.
    public let rule: Rule
    /// The field that caused the decision, such as `Cache-Control`. `nil` for a status, a method or a policy.
    public let field: String?
}

extension RequestRecord {
    /// Why the request was forwarded to the origin. `nil` for a request that was not, and for one that an older version
    /// has recorded.
    public var forwardReason: ForwardReason? {
        let index = Int(forwardCode) - 1
        return Self.reasons.indices.contains(index) ? Self.reasons[index] : nil
    }

    /// The decision on the reply of the origin. `nil` without a reply, and for a request that an older version has
    /// recorded.
    public var replyDecision: RecordedReplyDecision? { RecordedReplyDecision.all[replyCode] }

    /// The reasons by their number in the record, from 1. A new one comes last.
    private static let reasons: [ForwardReason] = [
        .bypass, .method, .uriMiss, .varyMiss, .miss, .request, .stale, .partial,
    ]

    static func code(of reason: ForwardReason) -> UInt8 {
        UInt8((reasons.firstIndex(of: reason) ?? -1) + 1)
    }
}

extension RecordedReplyDecision {
    /// The decisions by their number in the record. A number keeps its meaning.
    fileprivate static let all: [UInt8: RecordedReplyDecision] = [
        1: stored(.maxAgeDirective, "Cache-Control"),
        2: stored(.sharedMaxAgeDirective, "Cache-Control"),
        3: stored(.expiresField, "Expires"),
        4: stored(.publicDirective, "Cache-Control"),
        5: stored(.privateDirective, "Cache-Control"),
        6: stored(.heuristicallyCacheable, nil),
        7: stored(.postCacheable, "Content-Location"),
        16: Self(action: .freshened, rule: .freshenedByReply, field: nil),
        17: Self(action: .replaced, rule: .staleOnError, field: nil),
        32: relayed(.localConfiguration, nil),
        33: relayed(.methodNotUnderstood, nil),
        34: relayed(.statusNotFinal, nil),
        35: relayed(.statusNotUnderstood, nil),
        36: relayed(.mustUnderstand, "Cache-Control"),
        37: relayed(.noStore, "Cache-Control"),
        38: relayed(.requestNoStore, "Cache-Control of the request"),
        39: relayed(.privateInSharedCache, "Cache-Control"),
        40: relayed(.authorizationInSharedCache, "Authorization of the request"),
        41: relayed(.preconditionFailed, nil),
        42: relayed(.rangeNotSatisfiable, nil),
        43: relayed(.nothingAllowsStoring, nil),
        44: relayed(.tooManyFields, nil),
        45: relayed(.postNotCacheable, "Content-Location"),
        46: relayed(.contentOutsideKey, nil),
        47: relayed(.varyMatchesNothing, "Vary"),
        48: relayed(.largerThanLimit, "Content-Length"),
        49: relayed(.notWanted, nil),
        50: relayed(.replyWithoutBody, nil),
        51: relayed(.unusablePart, "Content-Range"),
    ]

    private static func stored(_ rule: Rule, _ field: String?) -> Self {
        Self(action: .stored, rule: rule, field: field)
    }

    private static func relayed(_ rule: Rule, _ field: String?) -> Self {
        Self(action: .relayed, rule: rule, field: field)
    }

    /// Returns the number of a decision, or 0 for one that has none.
    static func code(_ action: Action, _ rule: Rule) -> UInt8 {
        all.first { $0.value.action == action && $0.value.rule == rule }?.key ?? 0
    }
}
