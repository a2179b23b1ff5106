internal import CacheFoundation
internal import CacheStore

extension LoadTarget {
    init(_ request: ResourceRequest, _ settings: LoaderSettings) throws(LoadError) {
        let url: CacheKey = try .loading(request.url, partition: settings.configuration.partition)
        try url.checkHost(request.headerFields)
        let resource = try Self.resource(of: request, url)
        guard request.method == .query || request.content != nil else {
            self.init(key: resource, url: url)
            return
        }
        let policy = settings.policy(for: url).applying(request.policy)
        let head = HTTPRequest(request.method, key: url, fields: request.headerFields)
        let query = resource.key(for: head, request.content.map { RequestContent($0) }, policy)
        // If the content is not part of the key, use the URL: the name of the resource must not identify the answer.
        self.init(key: query == resource ? url : query, url: url)
    }

    /// Returns the key of the request regardless of its content: the URL, or the name that replaces it.
    private static func resource(of request: ResourceRequest, _ url: CacheKey) throws(LoadError) -> CacheKey {
        guard let name = request.key else { return url }
        do throws(StoreError) {
            return try CacheKey(name: name + suffix(request.headerFields), partition: url.partition)
        } catch {
            guard case .invalidKey(_, let reason) = error else { throw .store(error) }
            throw .invalidKey(name, reason: reason)
        }
    }

    /// Returns a digest of the fields for the key, because the fields may be credentials. The order of different field
    /// names does not matter (RFC 9110 §5.3). Without fields the suffix is empty.
    private static func suffix(_ fields: HTTPFields) -> String {
        guard !fields.isEmpty else { return "" }
        let names = Set(fields.map(\.name.canonicalName)).sorted()
        var bytes: [UInt8] = []
        for name in names {
            for field in fields where field.name.canonicalName == name {
                bytes += "\(name): ".utf8
                field.withUnsafeBytesOfValue { bytes += $0 }
                bytes.append(UInt8(ascii: "\n"))
            }
        }
        return "#" + bytes.withUnsafeBytes { "\(ContentDigest(of: $0))" }
    }
}
