extension HTTPResponse.Status {
    /// Whether the status is cacheable by default, without explicit permission from the origin (RFC 9110 §15.1).
    var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether this cache understands the caching requirements of the status, as `must-understand` demands (RFC 9111
    /// §5.2.2.3). Includes the statuses of RFC 9110 §15, except 206 and 304, which are meaningful only together with
    /// another response.
    var isUnderstood: Bool {
        switch code {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }
}
