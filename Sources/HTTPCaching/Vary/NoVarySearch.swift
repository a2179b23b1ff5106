package import HTTPTypes
internal import RawStructuredFieldValues

/// Which differences between queries do not matter to a response, by its `No-Vary-Search`
/// (draft-ietf-httpbis-no-vary-search).
///
/// The draft calls it a URL search variance. What cannot be read, or contradicts itself, is the default: every
/// difference matters.
package struct NoVarySearch: Hashable, Sendable {
    /// The parameters whose presence, number and values matter. Names are decoded, as UTF-8; not as `String`, which takes
    /// canonically equivalent names for equal.
    private enum Parameters: Hashable {
        case allBut(Set<[UInt8]>)
        case only(Set<[UInt8]>)
    }

    private var parameters = Parameters.allBut([])
    private var ignoresKeyOrder = false

    /// Every difference matters.
    package init() {}

    /// What the field says; the default when it is absent.
    package init(_ fields: HTTPFields) {
        guard let members = fields.structuredDictionary(named: "no-vary-search"),
            let variance = Self(members)
        else { return }
        self = variance
    }

    /// Whether every difference matters, so that only the same URL is equivalent.
    package var isDefault: Bool { self == NoVarySearch() }

    /// §3: members it does not know are ignored; so are parameters of those that it does.
    ///
    /// The text of the draft goes on to make the default of a field with neither `params` nor `except`. That would leave no
    /// meaning to its own example `key-order`, so here such a field says what it says.
    private init?(_ members: OrderedMap<String, ItemOrInnerList>) {
        if let value = members["key-order"] {
            guard case .bool(let flag) = value.bareItem else { return nil }
            ignoresKeyOrder = flag
        }
        switch (members["params"], members["except"]) {
        case (nil, nil):
            break
        case (let value?, nil):
            if let names = value.strings {
                parameters = .allBut(Self.decoded(names))
            } else if case .bool(let flag) = value.bareItem {
                parameters = flag ? .only([]) : .allBut([])
            } else {
                return nil
            }
        case (nil, let value?):
            guard let names = value.strings else { return nil }
            parameters = .only(Self.decoded(names))
        case (_?, _?):
            return nil
        }
    }

    private static func decoded(_ names: [String]) -> Set<[UInt8]> {
        Set(names.map { FormQuery.decoded($0.utf8[...]) })
    }
}

// MARK: - Comparing

extension NoVarySearch {
    /// Whether two URLs differ in nothing that matters (§6). Each is a normalised URL without a fragment.
    ///
    /// Takes time in proportion to their lengths; to sort, with key order ignored, that times its logarithm.
    package func isEquivalent(_ first: String, _ second: String) -> Bool {
        if first.utf8.elementsEqual(second.utf8) { return true }
        guard !isDefault, Self.base(of: first).utf8.elementsEqual(Self.base(of: second).utf8) else { return false }
        return significantPairs(of: first) == significantPairs(of: second)
    }

    /// The URL as far as its query: what equivalent URLs have in common.
    package static func base(of url: String) -> Substring {
        url[..<(url.utf8.firstIndex(of: UInt8(ascii: "?")) ?? url.endIndex)]
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
