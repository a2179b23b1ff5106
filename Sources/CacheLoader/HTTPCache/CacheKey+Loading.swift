internal import CacheFoundation
package import CacheStore

extension CacheKey {
    package static func loading(_ url: String, partition: String) throws(LoadError) -> CacheKey {
        let key: CacheKey
        do throws(StoreError) {
            key = try CacheKey(url: url, partition: partition)
        } catch {
            guard case .invalidKey(let text, let reason) = error else { throw .store(error) }
            throw .invalidURL(text, reason: reason)
        }
        guard key.text.hasPrefix("https://") || key.text.hasPrefix("http://") else {
            throw .invalidURL(url, reason: "its scheme is not http or https")
        }
        return key
    }

    static func loading(_ request: HTTPRequest, partition: String) throws(LoadError) -> CacheKey {
        let path = request.path ?? ""
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(path)"
        func refuse(_ reason: String) -> LoadError { .invalidURL(withoutCredentials(url), reason: reason) }
        // Any other path would extend the authority and direct the request to another host.
        guard path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") else {
            throw refuse("its path does not begin with a slash")
        }
        let ends = request.authority?.utf8.contains { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        guard ends != true else {
            throw refuse("its authority has more than a host and a port")
        }
        let key = try loading(url, partition: partition)
        try key.checkHost(request.headerFields)
        return key
    }

    /// Throws if `Host` names another authority than this URL. Both name the target (RFC 9110 §7.1, §7.2), so the
    /// response would be stored under the wrong name.
    func checkHost(_ fields: HTTPFields) throws(LoadError) {
        for field in fields where field.name.canonicalName == "host" {
            let named = try? CacheKey(url: "\(target.scheme)://\(field.value)/")
            guard let named, named.text == origin else {
                throw .invalidURL(text, reason: "its request has a Host that names another host: put it into the URL")
            }
        }
    }

    /// Returns this key, except for a QUERY (RFC 10008 §2.7) and for content that ``CachePolicy/contentKeys`` includes
    /// in the key. Also returns this key for a request whose response must not be stored.
    func key(for request: HTTPRequest, _ content: RequestContent?, _ policy: CachePolicy) -> CacheKey {
        let method = request.method
        let isKeyed = method == .query || (policy.contentKeys && content != nil && [.get, .post].contains(method))
        // The bytes of a stream are unknown until they are sent.
        guard isKeyed, let bytes = content == nil ? Data() : content?.data else { return self }
        var query = request
        query.method = .query
        guard let part = QueryKey(query, content: bytes) else { return self }
        return CacheKey(self, fragment: "\(method.rawValue)-\(part.bytes.withUnsafeBytes { ContentDigest(of: $0) })")
    }
}

extension CacheKey {
    /// The parts of the URL, `scheme://authority/…`.
    fileprivate var target: (scheme: String, authority: String, path: String) {
        var text = text
        // Finding the slashes as bytes takes a tenth of the time of finding them as characters.
        return text.withUTF8 { bytes in
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 3 <= bytes.count,
                let slash = bytes[(colon + 3)...].firstIndex(of: UInt8(ascii: "/"))
            else { preconditionFailure("the key of a request is a URL") }
            return (
                String(decoding: bytes[..<colon], as: UTF8.self),
                String(decoding: bytes[(colon + 3)..<slash], as: UTF8.self),
                String(decoding: bytes[slash...], as: UTF8.self)
            )
        }
    }
}

extension HTTPRequest {
    package init(_ method: HTTPRequest.Method = .get, key: CacheKey, fields: HTTPFields = [:]) {
        let (scheme, authority, path) = key.target
        self.init(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }

    /// Sets the target to the URL of a key, without a fragment.
    mutating func setTarget(to key: CacheKey) {
        let (scheme, authority, path) = key.target
        // Comparing takes a tenth of the time of setting.
        if self.scheme != scheme { self.scheme = scheme }
        if self.authority != authority { self.authority = authority }
        if self.path != path { self.path = path }
    }
}
