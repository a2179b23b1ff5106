internal import ByteText
internal import RawStructuredFieldValues

/// The query differences that do not matter to a response, from its `No-Vary-Search`
/// (draft-ietf-httpbis-no-vary-search). The draft calls this a URL variation config. An unreadable or contradictory
/// field means the default: every difference matters.
package struct NoVarySearch: Hashable, Sendable {
    /// The parameters whose presence, number and values matter. Names are decoded UTF-8 bytes, because `String` would
    /// treat canonically equivalent names as equal.
    private enum Parameters: Hashable {
        case allBut(Set<[UInt8]>)
        case only(Set<[UInt8]>)
    }

    private var parameters = Parameters.allBut([])
    private var ignoresKeyOrder = false

    /// Creates the default: every difference matters.
    package init() {}

    /// Reads the field of a response. An absent field means the default.
    package init(_ fields: HTTPFields) {
        guard let members = fields.structuredDictionary(named: "no-vary-search"),
            let variance = Self(members)
        else { return }
        self = variance
    }

    /// Whether every difference matters, so that only the same URL is equivalent.
    package var isDefault: Bool { self == NoVarySearch() }

    /// Ignores unknown members (§3), and the parameters of known members.
    private init?(_ members: OrderedMap<String, ItemOrInnerList>) {
        if let value = members["key-order"] {
            guard case .bool(let flag) = value.bareItem else { return nil }
            ignoresKeyOrder = flag
        }
        switch (members["params"], members["except"]) {
        case (nil, nil):
            // §5.1: "If both … exist or neither exists, then return the default URL variation config." The draft's example
            // `key-order` would then have no meaning, so here such a field takes effect.
            break
        case (let value?, nil):
            guard let names = value.strings else { return nil }
            parameters = .allBut(Self.decoded(names))
        case (nil, let value?):
            guard let names = value.strings else { return nil }
            parameters = .only(Self.decoded(names))
        case (_?, _?):
            // §3: "The `except` entry MUST NOT be present if the `params` entry is also present."
            return nil
        }
    }

    private static func decoded(_ names: [String]) -> Set<[UInt8]> {
        Set(names.map { FormQuery.decoded($0.utf8[...]) })
    }
}

// MARK: - Comparing

extension NoVarySearch {
    /// Whether two URLs are equivalent modulo variation config (§6). Both are normalised URLs without a fragment. Takes
    /// time linear in their lengths. With key order ignored, sorting takes O(n log n).
    package func isEquivalent(_ first: String, _ second: String) -> Bool {
        if first.hasSameBytes(as: second) { return true }
        guard !isDefault, Self.base(of: first).utf8.elementsEqual(Self.base(of: second).utf8) else { return false }
        return significantPairs(of: first) == significantPairs(of: second)
    }

    /// The URL up to its query. Equivalent URLs have the same base.
    package static func base(of url: String) -> Substring {
        var url = url
        // Every request calls this function. Searching the bytes is several times as fast as searching the UTF-8 view.
        let length = url.withUTF8 { $0.firstIndex(of: UInt8(ascii: "?")) ?? $0.count }
        return url[..<url.utf8.index(url.startIndex, offsetBy: length)]
    }

    private func significantPairs(of url: String) -> [FormQuery.Pair] {
        let query = url[Self.base(of: url).endIndex...].utf8.dropFirst()
        var pairs = FormQuery.pairs(query) { name in
            switch parameters {
            case .allBut(let names): !names.contains(name)
            case .only(let names): names.contains(name)
            }
        }
        if ignoresKeyOrder { FormQuery.sortByName(&pairs) }
        return pairs
    }
}
