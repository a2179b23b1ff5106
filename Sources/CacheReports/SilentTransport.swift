package import CacheLoader
package import HTTPTypes

/// A transport that prepares requests like `cachestore get`, but sends none.
package struct SilentTransport: HTTPTransport {
    private let isBare: Bool
    private let message: String
    private let base = DefaultTransport()

    /// - Parameters:
    ///   - isBare: Whether to leave requests unchanged.
    ///   - message: The message of the error of every request.
    package init(isBare: Bool = false, message: String = "no origin is asked") {
        self.isBare = isBare
        self.message = message
    }

    package func prepare(_ request: HTTPRequest) -> HTTPRequest {
        if isBare { return request }
        var request = base.prepare(request)
        request.addLoaderFields(decodesContent: true)
        return request
    }

    package func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupportedRequest, message: message)
    }
}
