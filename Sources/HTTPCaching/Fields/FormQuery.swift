internal import ByteText

/// Parses a URL query as `application/x-www-form-urlencoded` (https://url.spec.whatwg.org/#urlencoded-parsing).
package enum FormQuery {
    /// A decoded parameter in UTF-8.
    package struct Pair: Hashable {
        package let name: [UInt8]
        package let value: [UInt8]
    }

    /// Returns the parameters whose names `isIncluded` accepts, in order. Skips empty parameters, as in `a=1&&b=2`.
    package static func pairs(
        _ query: Substring.UTF8View, where isIncluded: (_ name: [UInt8]) -> Bool = { _ in true }
    ) -> [Pair] {
        var pairs: [Pair] = []
        for part in query.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = decoded(part[..<equals])
            guard isIncluded(name) else { continue }
            pairs.append(Pair(name: name, value: decoded(part[equals...].dropFirst())))
        }
        return pairs
    }

    /// Sorts by name and keeps the order of parameters with the same name.
    static func sortByName(_ pairs: inout [Pair]) {
        // Swift does not guarantee a stable sort, so the index orders equal names.
        pairs = pairs.enumerated().sorted { first, second in
            if first.element.name == second.element.name { return first.offset < second.offset }
            return first.element.name.lexicographicallyPrecedes(second.element.name)
        }.map(\.element)
    }

    /// Decodes `+` as a space, and percent-encoded bytes as UTF-8. Replaces invalid UTF-8 with U+FFFD, as in "UTF-8
    /// decode without BOM". Keeps a `%` without two hexadecimal digits.
    package static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var isASCII = true
        var rest = text
        while let (byte, isEncoded) = PercentEncoding.popByte(&rest) {
            let decoded = byte == UInt8(ascii: "+") && !isEncoded ? 0x20 : byte
            isASCII = isASCII && decoded < 0x80
            bytes.append(decoded)
        }
        return isASCII ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
    }
}
