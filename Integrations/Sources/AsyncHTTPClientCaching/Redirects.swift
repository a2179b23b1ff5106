internal import AsyncHTTPClient
internal import Foundation
internal import NIOHTTP1

/// Decides about redirects as `HTTPClient` does by default: a limited number, and no circle.
struct Redirects {
    private let limit: Int
    private var visited: [String]

    init(from url: String, limit: Int) {
        self.limit = max(0, limit)
        visited = [url]
    }

    /// Returns the request that follows a response; `nil` if the response is the last one.
    ///
    /// - Throws: `HTTPClientError`.
    mutating func request(
        after head: HTTPResponseHead, to request: HTTPClientRequest, _ message: RequestMessage
    ) throws -> HTTPClientRequest? {
        guard limit > 0, [301, 302, 303, 307, 308].contains(head.status.code),
            let location = head.headers.first(name: "Location"), let old = URL(string: request.url),
            let new = URL(string: location, relativeTo: old)?.absoluteURL,
            ["http", "https"].contains(new.scheme?.lowercased()),
            // A redirect must not send a request that was secure over an insecure connection.
            old.scheme?.lowercased() != "https" || new.scheme?.lowercased() == "https"
        else { return nil }
        guard visited.count <= limit else { throw HTTPClientError.redirectLimitReached }
        guard !visited.contains(new.absoluteString) else { throw HTTPClientError.redirectCycleDetected }
        var next = request
        next.url = new.absoluteString
        // RFC 9110 §15.4: user agents change POST to GET after 301 and 302, and all methods but HEAD after 303.
        let becomesGET =
            head.status.code == 303
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
        if old.origin != new.origin {
            for name in ["Authorization", "Cookie", "Origin", "Proxy-Authorization"] { next.headers.remove(name: name) }
        }
        visited.append(next.url)
        return next
    }
}

extension URL {
    /// Scheme, host and port, in lower case.
    fileprivate var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host()?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
