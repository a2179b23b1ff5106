extension HTTPFields {
    /// Whether a request with these fields keeps caches from answering without the origin (RFC 9111 §5.2.1.4).
    var hasNoCache: Bool { CacheControl(self).noCache }

    /// Adds `no-cache` to the directives of a request, unless they contain it.
    mutating func addNoCache() {
        guard !hasNoCache else { return }
        let directives = self[values: .cacheControl].filter { !$0.isEmpty }
        self[.cacheControl] = (directives + ["no-cache"]).joined(separator: ", ")
    }
}
