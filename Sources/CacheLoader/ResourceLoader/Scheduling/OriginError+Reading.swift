internal import CacheCodings
internal import CacheFoundation

extension OriginError {
    /// Reads the start of the body, and does not wait for the rest.
    init(_ response: CachedResponse, url: String, decodes: Bool) async {
        var (body, isWhole) = await response.body.start(upTo: Self.maxBodyBytes)
        var fields = response.headerFields
        if decodes, let decoded = ContentCoding.decodeStart(of: body, fields, limit: Int64(Self.maxBodyBytes)) {
            fields.removeEncodedDescription()
            body = decoded.bytes
            isWhole = isWhole && decoded.isWhole
        }
        self.init(
            status: response.status, url: url, headerFields: fields, body: body, isBodyTruncated: !isWhole)
    }
}
