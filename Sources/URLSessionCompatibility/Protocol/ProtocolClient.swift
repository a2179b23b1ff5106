internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Reports a load to the session. `@unchecked`: only blocks on the queue of the task use the object and its client.
final class ProtocolClient: @unchecked Sendable {
    let task: ProtocolTask
    let control = LoadControl()
    private let source: URLProtocol

    init(_ source: URLProtocol, _ task: ProtocolTask) {
        self.source = source
        self.task = task
    }

    /// Passes a response on. Returns when the delegate has taken it, if the system tells.
    func receive(_ response: HTTPURLResponse) async {
        await perform { source, client in
            client.urlProtocol(source, didReceive: response, cacheStoragePolicy: .notAllowed)
        }
        if !control.hasEnded { await task.delegateHasReturned() }
    }

    /// Passes a chunk on. Returns when the delegate has taken it, if the system tells.
    func load(_ data: Data) async {
        await perform { source, client in client.urlProtocol(source, didLoad: data) }
        if !control.hasEnded { await task.delegateHasReturned() }
    }

    func finish() async {
        await end { source, client in client.urlProtocolDidFinishLoading(source) }
    }

    func fail(_ error: URLError) async {
        await end { source, client in client.urlProtocol(source, didFailWithError: error) }
    }

    /// Reports a redirect. Returns the request to send, or `nil` if the redirect is the response.
    func redirect(to request: URLRequest, by response: HTTPURLResponse) async -> URLRequest? {
        #if canImport(FoundationNetworking)
        // This client ends the process on a redirect.
        guard !control.hasEnded else { return nil }
        return await task.redirect(to: request, by: response)
        #else
        // The session asks its delegate and makes a new protocol object for the target. If the delegate refuses, the
        // redirect is the response, hence this load continues until the session stops it.
        await perform { source, client in
            client.urlProtocol(source, wasRedirectedTo: request, redirectResponse: response)
        }
        return nil
        #endif
    }

    private func end(_ report: @escaping @Sendable (URLProtocol, any URLProtocolClient) -> Void) async {
        await perform { [control] source, client in
            control.stop()
            report(source, client)
        }
    }

    /// Reports on the queue of the task, unless the load is suspended or has ended.
    private func perform(_ report: @escaping @Sendable (URLProtocol, any URLProtocolClient) -> Void) async {
        await control.waitWhilePaused()
        await withCheckedContinuation { continuation in
            task.queue.async { [self] in
                if !control.hasEnded, let client = source.client { report(source, client) }
                continuation.resume()
            }
        }
    }
}
