/// The answer to a range request.
package enum RangeAnswer: Hashable, Sendable {
    /// A 206 with these bytes.
    case part(Range<Int64>)
    /// A 206 with these parts, in this order.
    case parts([Range<Int64>])
    /// A 416: the representation has no such bytes.
    case unsatisfiable
    /// A 200, as if the request had no range.
    case whole
}
