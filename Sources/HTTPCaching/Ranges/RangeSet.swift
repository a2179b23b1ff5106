/// The bytes that the `Range` of a request asks for (RFC 9110 §14.2). An invalid `Range` counts as absent: the
/// recipient "MAY ignore or reject" it, and a 200 is correct for any client.
///
/// The folder `Ranges/` has ranges, parts and strong validators, from `Range`, `If-Range` and `Content-Range`. The
/// folder may use `Fields/`, and no other folder. The folder chooses no stored response and joins no bytes.
package struct RangeSet: Hashable, Sendable {
    /// One element of the set (RFC 9110 §14.1.1).
    fileprivate enum Spec: Hashable {
        /// `first-pos "-" [ last-pos ]`
        case from(Int64, last: Int64?)
        /// `"-" suffix-length`
        case suffix(Int64)
    }

    /// The elements in the requested order, at least one.
    private let specs: [Spec]

    /// The most ranges in a request. Ignores a longer set: RFC 9110 §17.15 describes attacks with many small ranges.
    package static let maxCount = 16

    /// Reads the `Range` of `request`. Returns `nil` when the field is absent or must be ignored.
    package init?(_ request: HTTPRequest) {
        // §14.2: "A server MUST ignore a Range header field received with a request method that is unrecognized or for
        // which range handling is not defined. For this specification, GET is the only method".
        guard request.method == .get else { return nil }
        // Range is not a list, so two lines are an error and ambiguous.
        guard let value = request.headerFields.onlyLine(.range),
            let specs = value.withUnsafeBytesOfValue({ Self.specs($0.trimmed) })
        else { return nil }
        self.specs = specs
    }
}

// MARK: - Parsing

extension RangeSet {
    /// Reads `range-unit "=" 1#range-spec`. §14.1.1: one invalid element makes the whole set invalid.
    private static func specs(_ bytes: FieldBytes) -> [Spec]? {
        var scanner = FieldScanner(bytes)
        // §14.1: unit names are case-insensitive. §14.2: a Range with an unknown unit is ignored.
        guard scanner.token().isCaseInsensitively("bytes"), scanner.skip(UInt8(ascii: "=")) else { return nil }
        if let byte = scanner.next, byte.isFieldWhitespace {
            // §5.6.1.2 allows whitespace only around a comma. The element before the comma may be empty.
            scanner.skipWhitespace()
            guard scanner.next == UInt8(ascii: ",") else { return nil }
        }
        var specs: [Spec] = []
        while scanner.skipToElement() {
            guard specs.count < maxCount, let spec = spec(&scanner), scanner.isAtEndOfElement() else { return nil }
            specs.append(spec)
        }
        return specs.isEmpty ? nil : specs
    }

    private static func spec(_ scanner: inout FieldScanner) -> Spec? {
        let first = scanner.digits()
        guard scanner.skip(UInt8(ascii: "-")) else { return nil }
        let last = scanner.digits()
        // §14.1.2: recipients "MUST anticipate potentially large decimal numerals". The largest offset can replace any
        // larger number, because no byte lies beyond it.
        switch (first, last) {
        case (nil, nil):
            return nil
        case (nil, let length?):
            return .suffix(length.decimalNumber ?? .max)
        case (let first?, nil):
            return .from(first.decimalNumber ?? .max, last: nil)
        case (let first?, let last?):
            // "An int-range is invalid if the last-pos value is present and less than first-pos."
            guard !first.isGreaterNumber(than: last) else { return nil }
            return .from(first.decimalNumber ?? .max, last: last.decimalNumber ?? .max)
        }
    }
}

// MARK: - Resolving

extension RangeSet {
    /// Resolves the ranges against a representation that is stored whole.
    package func resolved(completeLength: Int64) -> RangeAnswer {
        let length = max(0, completeLength)
        // §14.1.2: a nonzero suffix-range is satisfiable even by an empty representation. It then means "the entire
        // representation", but Content-Range cannot express an empty range.
        if length == 0, specs.contains(where: \.isSatisfiableByNothing) { return .whole }
        // Omit unsatisfiable ranges if at least one is satisfiable.
        return Self.answer(specs.compactMap { $0.range(completeLength: length) }, completeLength: length)
    }

    /// Resolves the ranges against a stored part, to ``RangeAnswer/part(_:)`` or ``RangeAnswer/parts(_:)``. Returns
    /// `nil` when the request must go to the origin. RFC 9111 §3.3: a cache "MUST NOT use an incomplete response to
    /// answer requests unless the response has been made complete, or the request is partial and specifies a range
    /// wholly within the incomplete response". Only the origin may declare a range unsatisfiable.
    package func resolved(inside part: Range<Int64>, completeLength: Int64?) -> RangeAnswer? {
        var ranges: [Range<Int64>] = []
        if let completeLength {
            ranges = specs.compactMap { $0.range(completeLength: max(0, completeLength)) }
        } else {
            for spec in specs {
                // Without a complete length, only a range with both ends is known to lie in the part.
                guard case .from(let first, let last?) = spec, first < last.saturatingAdding(1) else { return nil }
                ranges.append(first..<last.saturatingAdding(1))
            }
        }
        guard ranges.allSatisfy({ $0.clamped(to: part) == $0 }) else { return nil }
        switch Self.answer(ranges, completeLength: completeLength ?? .max) {
        case .part(let range): return .part(range)
        case .parts(let ranges): return .parts(ranges)
        case .unsatisfiable, .whole: return nil
        }
    }

    private static func answer(_ ranges: [Range<Int64>], completeLength: Int64) -> RangeAnswer {
        guard let first = ranges.first else { return .unsatisfiable }
        // §15.3.7.2: "A server MUST NOT generate a multipart response to a request for a single range". If only one of
        // several ranges is satisfiable, a multipart response is allowed, but a plain 206 is readable for any client.
        guard ranges.count > 1 else { return .part(first) }
        // §14.2: "A server MAY ignore the Range header field". The section calls more than two overlapping ranges a
        // sign of an attack, and even two overlapping ranges send some bytes twice. Send a 200 instead of ranges that
        // overlap or add up to the whole or more.
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        guard !zip(sorted, sorted.dropFirst()).contains(where: { $0.overlaps($1) }) else { return .whole }
        let sum = ranges.reduce(Int64(0)) { $0.saturatingAdding($1.upperBound - $1.lowerBound) }
        // "the parts in the same order that the corresponding range-spec appeared" (§15.3.7.2)
        return sum < completeLength ? .parts(ranges) : .whole
    }
}

extension RangeSet.Spec {
    fileprivate var isSatisfiableByNothing: Bool {
        guard case .suffix(let length) = self else { return false }
        return length > 0
    }

    /// Returns the bytes that this element selects from a representation of this length, or `nil` for no bytes.
    fileprivate func range(completeLength: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            // §14.1.2: a last-pos "greater than or equal to the current length" means the remainder.
            let end = last.map { min($0.saturatingAdding(1), completeLength) } ?? completeLength
            return first < end ? first..<end : nil
        case .suffix(let length):
            // "If the selected representation is shorter than the specified suffix-length, the entire representation is
            // used."
            guard length > 0, completeLength > 0 else { return nil }
            return (completeLength - min(length, completeLength))..<completeLength
        }
    }
}

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
