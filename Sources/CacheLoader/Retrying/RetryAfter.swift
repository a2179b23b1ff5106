package import HTTPCaching
package import HTTPTypes

extension HTTPFields {
    /// How long the origin asks to be left alone (RFC 9110 §10.2.3): seconds, or until a date; `nil` when it does not say so,
    /// or says it wrong.
    package func retryAfter(at now: HTTPDate) -> Duration? {
        guard let field = self[fields: .retryAfter].first else { return nil }
        var text = field.value
        if case .seconds(let seconds) = text.withUTF8({ DeltaSeconds($0) }) { return .seconds(seconds) }
        guard let date = HTTPDate(lenient: field, now: now) else { return nil }
        return .seconds(Swift.min(DeltaSeconds.limit, Swift.max(0, date.seconds(since: now))))
    }
}
