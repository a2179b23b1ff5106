package import HTTPCaching
package import HTTPTypes

extension HTTPFields {
    /// The delay in `Retry-After` (RFC 9110 §10.2.3), in seconds or until a date. `nil` for a malformed field.
    package func retryAfter(at now: HTTPDate) -> Duration? {
        guard let field = self[fields: .retryAfter].first else { return nil }
        var text = field.value
        if case .seconds(let seconds) = text.withUTF8({ DeltaSeconds($0) }) { return .seconds(seconds) }
        guard let date = HTTPDate(lenient: field, now: now) else { return nil }
        return .seconds(Swift.min(DeltaSeconds.limit, Swift.max(0, date.seconds(since: now))))
    }
}
