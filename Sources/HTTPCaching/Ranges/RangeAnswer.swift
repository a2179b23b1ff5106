/// What a request for ranges gets of a representation.
package enum RangeAnswer: Hashable, Sendable {
    /// A 206 with these bytes.
    case part(ByteRange)
    /// A 206 with each of these parts, in this order.
    case parts([ByteRange])
    /// A 416: there are no such bytes.
    case unsatisfiable
    /// A 200, as if no range had been asked for.
    case whole
}
