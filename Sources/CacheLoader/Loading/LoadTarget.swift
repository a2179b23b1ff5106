internal import CacheStore
internal import HTTPTypes

/// What is loaded, and what it is kept under.
struct LoadTarget: Hashable {
    /// What the response is kept under.
    let key: CacheKey
    /// The URL that is asked for.
    let url: CacheKey

    init(_ request: ResourceRequest, partition: String) throws(LoadError) {
        url = try .loading(request.url, partition: partition)
        guard let name = request.key else {
            key = url
            return
        }
        do throws(StoreError) {
            key = try CacheKey(name: name + Self.suffix(request.headerFields), partition: partition)
        } catch {
            guard case .invalidKey(_, let reason) = error else { throw .store(error) }
            throw .invalidKey(name, reason: reason)
        }
    }

    init(key: CacheKey, url: CacheKey) {
        self.key = key
        self.url = url
    }

    /// A URL that is kept under itself, as the targets of redirects are.
    init(_ url: CacheKey) {
        key = url
        self.url = url
    }

    /// Stands for the fields: a digest, because they may be credentials. Fields of different names have no order (RFC 9110
    /// §5.3); none is as if there were no list of them.
    private static func suffix(_ fields: HTTPFields) -> String {
        guard !fields.isEmpty else { return "" }
        let names = Set(fields.map(\.name.canonicalName)).sorted()
        var text = ""
        for name in names {
            for field in fields where field.name.canonicalName == name { text += "\(name): \(field.value)\n" }
        }
        return "#" + Array(text.utf8).withUnsafeBytes { "\(ContentDigest(of: $0))" }
    }
}
