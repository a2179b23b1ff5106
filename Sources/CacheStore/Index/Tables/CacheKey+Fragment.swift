/// Keys of several resources with one URL. The key of a URL has no fragment, so a fragment can distinguish responses to
/// requests with the same URL and different content.
extension CacheKey {
    /// The key of one of several resources that share `key`. Removing `key` also removes the entries with a fragment.
    package init(_ key: CacheKey, fragment: String) {
        self.init(stored: "\(key.text)#\(fragment)", partition: key.partition)
    }

    /// The key of the URL without its fragment. `nil` for a name, and for a key without a fragment.
    package var withoutFragment: CacheKey? {
        guard !isName, let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        return CacheKey(stored: String(text[..<end]), partition: partition)
    }

    /// The range of key texts that extend this URL with a fragment. Empty for a name and for a key with a fragment.
    var fragments: Range<String> {
        if isName || text.utf8.contains(UInt8(ascii: "#")) { return "\(text)\u{1}"..<"\(text)\u{1}" }
        // '$' follows '#'.
        return "\(text)#"..<"\(text)$"
    }

    private var isName: Bool { text.utf8.starts(with: "name=".utf8) }
}

extension Statement {
    /// Binds partition and key at 1 and 2, and the bounds of its keys with a fragment at 3 and 4. Made for the
    /// condition `key >= ?2 AND key < ?4 AND (key = ?2 OR key >= ?3)`, whose range is one search of an index. For
    /// `key = ?2 OR (key >= ?3 AND key < ?4)`, SQLite reads the whole partition.
    func bindWithFragments(_ key: CacheKey) {
        bind(key.partition, at: 1)
        bind(key.text, at: 2)
        bind(key.fragments.lowerBound, at: 3)
        bind(key.fragments.upperBound, at: 4)
    }
}
