internal import CacheCodings
internal import CacheFoundation

extension HTTPRequest {
    /// Adds the fields that a loader sends unless the program or the transport has set them.
    package mutating func addLoaderFields(decodesContent: Bool) {
        headerFields.reserveCapacity(headerFields.count + 2)
        // RFC 9110 §10.1.5: a user agent should send `User-Agent`. Some origins refuse requests without one.
        if !headerFields.contains(.userAgent) { headerFields.append(Self.userAgent) }
        // A transport that decodes has set `Accept-Encoding` itself. Ranges count encoded bytes.
        guard decodesContent, method == .get, headerFields[.range] == nil, !headerFields.contains(.acceptEncoding)
        else { return }
        headerFields.append(Self.acceptEncoding)
    }

    // Made once, because each load adds them, even a load that the store answers.
    private static let userAgent = HTTPField(name: .userAgent, value: "CacheStore")
    private static let acceptEncoding = HTTPField(name: .acceptEncoding, value: ContentCoding.accepted)
}
