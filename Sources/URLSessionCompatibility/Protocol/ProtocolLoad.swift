internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Answers one request of a session from a cache.
final class ProtocolLoad: Sendable {
    /// Whether the current task answers a request, so that its own requests go to the origin.
    @TaskLocal static var isRunning = false

    private let control: LoadControl
    private let task: Task<Void, Never>

    /// `origin` is the first URL of the task. On Apple's systems `request` may follow a redirect of that URL.
    init(_ request: URLRequest, _ route: ProtocolRoute, _ client: ProtocolClient, from origin: URL?) {
        control = client.control
        task = Task {
            await Self.$isRunning.withValue(true) {
                do throws(URLError) {
                    try await Self.run(request, route, client, from: origin ?? request.url)
                } catch {
                    await client.fail(error)
                }
            }
        }
    }

    func pause() { control.pause() }
    func resume() { control.resume() }

    /// Ends the request. The client receives nothing after the call.
    func stop() {
        control.stop()
        task.cancel()
    }

    private static func run(
        _ original: URLRequest, _ route: ProtocolRoute, _ client: ProtocolClient, from origin: URL?
    ) async throws(URLError) {
        var request = original
        var content = await client.task.content(of: original)
        for number in 0... {
            request = route.settings.applied(to: request, from: origin)
            let message = try await SessionRequest(request, content: content?.forSending(request))
            let exchange = try await SessionExchange(request, message, route.cache, maxRedirects: nil)
            let response = exchange.urlResponse
            route.settings.storeCookies(exchange.setCookieLines, of: response, to: request)
            if let target = exchange.redirectTarget {
                let next = route.settings.withoutCookies(request).redirected(to: target, response.statusCode)
                if let next = await client.redirect(to: next, by: response) {
                    guard number < SessionExchange.maxRedirects else {
                        let url = original.url?.absoluteString ?? ""
                        throw URLError(.tooManyRedirects(url: url, limit: SessionExchange.maxRedirects), original.url)
                    }
                    exchange.drain()
                    if next.httpMethod != request.httpMethod { content = nil }
                    request = next
                    continue
                }
            }
            return try await deliver(exchange, to: client)
        }
    }

    /// Passes a body on chunk by chunk. Reads a chunk when the client has taken the one before, if the system tells.
    private static func deliver(_ exchange: SessionExchange, to client: ProtocolClient) async throws(URLError) {
        await client.receive(exchange.urlResponse)
        if client.task.takesWholeBody {
            await client.load(try await exchange.data())
        } else {
            var chunks = exchange.chunks()
            while let chunk = try await chunks.next(exchange) { await client.load(chunk) }
        }
        await client.finish()
    }
}

extension URLRequest {
    /// Returns the request that follows a redirect (RFC 9110 §15.4).
    func redirected(to target: URL, _ status: Int) -> URLRequest {
        var fields = HTTPFields((allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) })
        if !target.hasOrigin(of: url) { Redirect.removeCredentials(from: &fields) }
        var request = self
        request.url = target
        let method = HTTPRequest.Method(rawValue: httpMethod ?? "GET") ?? .get
        let next = Redirect.method(after: method, status: HTTPResponse.Status(code: status))
        if next != method {
            request.httpMethod = next.rawValue
            request.httpBody = nil
            request.httpBodyStream = nil
            Redirect.removeContentFields(from: &fields)
        }
        request.allHTTPHeaderFields = nil
        for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
        return request
    }
}

extension URL {
    /// Whether both URLs have the same scheme, host and port.
    func hasOrigin(of other: URL?) -> Bool {
        (scheme, host, port) == (other?.scheme, other?.host, other?.port)
    }
}
