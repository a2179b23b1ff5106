internal import AsyncHTTPClient
internal import CacheLoader
internal import HTTPTypes
internal import NIOHTTP1

/// Decides about redirects with the defaults of `HTTPClient`: a limited number and no cycle.
struct Redirects {
    private let limit: Int
    private var visited: [String]

    init(from url: String, limit: Int) {
        self.limit = max(0, limit)
        visited = [url]
    }

    /// Returns the request to follow a redirect, or `nil` for a final response.
    ///
    /// - Throws: `HTTPClientError`.
    mutating func request(
        after head: HTTPResponse, to request: HTTPClientRequest, _ message: RequestMessage
    ) throws -> HTTPClientRequest? {
        guard limit > 0, let target = Redirection.target(of: head, from: request.url),
            let old = RequestTarget(request.url)?.origin, let new = RequestTarget(target)?.origin,
            // A redirect must not move a secure request to an insecure connection.
            !old.hasPrefix("https:") || new.hasPrefix("https:")
        else { return nil }
        guard visited.count <= limit else { throw HTTPClientError.redirectLimitReached }
        guard !visited.contains(target) else { throw HTTPClientError.redirectCycleDetected }
        var next = request
        next.url = target
        // RFC 9110 §15.4: user agents change POST to GET after 301 and 302, and all methods but HEAD after 303.
        let becomesGET =
            head.status == .seeOther
            ? request.method != .HEAD : head.status.code <= 302 && request.method == .POST
        if becomesGET {
            next.method = .GET
            next.body = nil
            for name in ["Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Transfer-Encoding"]
            {
                next.headers.remove(name: name)
            }
        } else if !message.isRepeatable {
            return nil
        }
        next.headers.remove(name: "Host")
        if old != new {
            for name in ["Authorization", "Cookie", "Origin", "Proxy-Authorization"] { next.headers.remove(name: name) }
        }
        visited.append(next.url)
        return next
    }
}
