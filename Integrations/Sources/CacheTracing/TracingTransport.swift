public import CacheLoader
public import HTTPTypes
internal import Synchronization
public import Tracing

/// A transport that creates a span for each exchange with an origin.
///
/// The span has the kind client and the name of the method. It begins with the sending and ends with the end or the
/// release of the body. Its attributes follow [OpenTelemetry's
/// conventions](https://opentelemetry.io/docs/specs/semconv/http/http-spans/): `http.request.method`, `url.full`,
/// `server.address`, `server.port`, `http.response.status_code` and `error.type`. `error.type` is the status of a
/// response from 400 on, or the code of the `TransportError`. It gives the span the status error.
///
/// The tracer injects its context, such as the field `traceparent`, into the sent request. `Vary` is matched without
/// it.
///
/// If a tracer is bootstrapped, AsyncHTTPClient also creates spans, which end with the head of the response. For a
/// single span per exchange, give the transport a client without a tracer:
///
/// ```swift
/// var settings = HTTPClient.Configuration(redirectConfiguration: .disallow)
/// settings.tracing.tracer = nil
/// let client = HTTPClient(configuration: settings)
/// let transport = TracingTransport(AsyncHTTPClientTransport(client: client))
/// ```
public struct TracingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let tracer: any Tracer

    /// Creates a transport that sends requests through `base` and creates spans with `tracer`. By default, the tracer
    /// with which swift-distributed-tracing is now bootstrapped.
    public init(_ base: any HTTPTransport, tracer: any Tracer = InstrumentationSystem.tracer) {
        self.base = base
        self.tracer = tracer
    }

    /// Returns the request as prepared by the base transport.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    /// Whether the base transport passes bodies in unknown content codings.
    public var passesUnknownCodings: Bool { base.passesUnknownCodings }

    /// Sends the request through the base transport, in a span, and passes on its interim responses.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let exchange = TracedExchange(request, tracer)
        var request = request
        tracer.inject(exchange.context, into: &request.headerFields, using: FieldInjector())
        let result: Result<TransportResponse, TransportError> = await ServiceContext.$current.withValue(
            exchange.context
        ) {
            do throws(TransportError) {
                return .success(
                    try await base.send(request, content: content, onInterimResponse: onInterimResponse))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(var response):
            response.body = exchange.headArrived(response)
            return response
        case .failure(let error):
            exchange.end(error)
            throw error
        }
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key) else { return }
        fields[name] = value
    }
}

/// The span of an exchange. Ends once, at the latest when the body is released.
private final class TracedExchange: Sendable {
    private let span: any Span
    private let isOver = Atomic(false)

    var context: ServiceContext { span.context }

    init(_ request: HTTPRequest, _ tracer: any Tracer) {
        // The conventions name a span of an unknown method HTTP, so that a client cannot invent names.
        let name = SpanAttributes.isKnown(request.method) ? request.method.rawValue : "HTTP"
        span = tracer.startSpan(name, ofKind: .client)
        span.updateAttributes { attributes in
            let (scheme, authority) = (request.scheme ?? "", request.authority ?? "")
            attributes.setMethod(request.method)
            attributes.setServer(authority, scheme: scheme)
            attributes["url.full"] = TracedURL("\(scheme)://\(authority)\(request.path ?? "")").description
        }
    }

    deinit {
        end(nil)
    }

    /// Returns a body that ends the span with its last chunk.
    func headArrived(_ response: TransportResponse) -> TransportBody {
        let code = response.head.status.code
        span.attributes["http.response.status_code"] = code
        if code >= 400 { fail("\(code)") }
        return TransportBody { [body = response.body] () async throws(TransportError) in
            do throws(TransportError) {
                let chunk = try await body.next()
                if chunk == nil { self.end(nil) }
                return chunk
            } catch {
                self.end(error)
                throw error
            }
        }
    }

    func end(_ error: TransportError?) {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        if let error { fail(error.code.description) }
        span.end()
    }

    private func fail(_ type: String) {
        span.attributes["error.type"] = type
        span.setStatus(SpanStatus(code: .error))
    }
}
