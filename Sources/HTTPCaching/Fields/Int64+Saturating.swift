// RFC 9111 §1.2.2: an overflow saturates at the largest value and never wraps.
extension Int64 {
    /// Returns the sum, clamped to the range of `Int64`.
    package func saturatingAdding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Returns the difference, clamped to the range of `Int64`.
    package func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }
}
