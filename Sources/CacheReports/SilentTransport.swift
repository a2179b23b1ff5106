package import CacheLoader
package import HTTPTypes

/// A transport that prepares requests like `cachestore get`, but sends none.
package struct SilentTransport: HTTPTransport {
    private let isBare: Bool
    private let base = DefaultTransport()

    /// - Parameter isBare: Whether to leave requests unchanged.
    package init(isBare: Bool) { self.isBare = isBare }

    package func prepare(_ request: HTTPRequest) -> HTTPRequest {
        if isBare { return request }
        var request = base.prepare(request)
        request.addLoaderFields(decodesContent: true)
        return request
    }

    package func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupportedRequest, message: "no origin is asked")
    }
}
