package import CacheStore
internal import HTTPCaching
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension CacheKey {
    /// Returns the key of a loadable URL.
    package static func loading(_ url: String, partition: String) throws(LoadError) -> CacheKey {
        let key: CacheKey
        do throws(StoreError) {
            key = try CacheKey(url: url, partition: partition)
        } catch {
            guard case .invalidKey(_, let reason) = error else { throw .store(error) }
            throw .invalidURL(url, reason: reason)
        }
        guard key.text.hasPrefix("https://") || key.text.hasPrefix("http://") else {
            throw .invalidURL(url, reason: "its scheme is not http or https")
        }
        return key
    }

    /// Returns the key of the request's target.
    static func loading(_ request: HTTPRequest, partition: String) throws(LoadError) -> CacheKey {
        let path = request.path ?? ""
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(path)"
        // Any other path would extend the authority and direct the request to another host.
        guard path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") else {
            throw .invalidURL(url, reason: "its path does not begin with a slash")
        }
        let ends = request.authority?.utf8.contains { byte in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        guard ends != true else {
            throw .invalidURL(url, reason: "its authority has more than a host and a port")
        }
        return try loading(url, partition: partition)
    }

    /// Returns the key of the response to a request for the resource of this key: this key, except for a QUERY (RFC
    /// 10008 §2.7). A QUERY whose response must not be stored has this key, too.
    func key(for request: HTTPRequest, _ content: RequestContent?, _ policy: CachePolicy) -> CacheKey {
        // The bytes of a stream are unknown until they are sent.
        guard request.method == .query, let bytes = content == nil ? Data() : content?.data,
            let query = QueryKey(request, content: bytes, ignoresFormat: policy.ignoresQueryFormat)
        else { return self }
        return CacheKey(self, fragment: "QUERY-\(query.bytes.withUnsafeBytes { ContentDigest(of: $0) })")
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
    /// Creates a request for the URL of a key.
    init(_ method: HTTPRequest.Method = .get, key: CacheKey, fields: HTTPFields) {
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
