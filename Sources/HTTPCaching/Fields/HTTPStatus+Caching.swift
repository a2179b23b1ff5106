internal import HTTPTypes

extension HTTPResponse.Status {
    /// RFC 9110 §15.1: statuses that are cacheable by default, without a word from the origin.
    var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether this cache knows what the status means for caching, as `must-understand` demands (RFC 9111 §5.2.2.3).
    ///
    /// Those of RFC 9110 §15, but for 206 and 304, which only mean something beside another response.
    var isUnderstood: Bool {
        switch code {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }
}
