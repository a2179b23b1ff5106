internal import AsyncHTTPClient
internal import CacheLoader
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// A request of AsyncHTTPClient, converted for a cache.
struct RequestMessage: Sendable {
    let head: HTTPRequest
    let content: RequestContent?
    /// Whether the content can be sent again.
    let isRepeatable: Bool

    /// - Throws: `LoadError` if a cache cannot send the request.
    init(_ request: HTTPClientRequest) async throws {
        guard let target = RequestTarget(request.url), let method = HTTPRequest.Method(request.method.rawValue)
        else { throw LoadError.invalidURL(request.url, reason: "it is not the URL of a request") }
        if let reason = Self.reason(against: request, target) {
            throw LoadError.transport(TransportError(.unsupportedRequest, message: reason), url: request.url)
        }
        var head = HTTPRequest(
            method: method, scheme: target.scheme, authority: String(target.authority),
            path: String(target.path))
        for (name, value) in request.headers {
            // The transport sets these fields from the URL and the content.
            guard let name = HTTPField.Name(name), !Self.framing.contains(name.canonicalName) else { continue }
            head.headerFields.append(HTTPField(name: name, lenientValue: value.utf8))
        }
        self.head = head
        guard let body = request.body else {
            content = nil
            isRepeatable = true
            return
        }
        let announced = request.headers.first(name: "Content-Length").flatMap { Int64($0) }
        let shape = BodyShape(of: body) ?? .stream(length: announced)
        switch shape {
        case .inMemory:
            var bytes = Data()
            for try await buffer in body { bytes += buffer.readableBytesView }
            content = RequestContent(bytes)
            isRepeatable = true
        case .stream(let length):
            content = RequestContent(length: length ?? announced, body.map { Data(buffer: $0) })
            isRepeatable = false
        }
    }

    private static let framing: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Returns the reason why the responses must not answer other requests for the URL, if any.
    private static func reason(against request: HTTPClientRequest, _ target: RequestTarget) -> String? {
        if request.tlsConfiguration != nil {
            return "a cached request has no TLS configuration of its own; set that of the transport's client"
        }
        if request.localAddress != nil {
            return "a cached request has no local address of its own; set that of the transport's client"
        }
        if let host = request.headers.first(name: "Host"), host.lowercased() != target.authority.lowercased() {
            return "a cached request has the Host of its URL"
        }
        return nil
    }
}

/// The way to send a body.
enum BodyShape: Equatable {
    case inMemory
    case stream(length: Int64?)

    /// Reads the internal `mode` of a body, because AsyncHTTPClient does not publish the length of a body. A body
    /// without length is sent in chunks, which many servers refuse. Returns `nil` for an unexpected property.
    init?(of body: HTTPClientRequest.Body) {
        guard let mode = Mirror(reflecting: body).descendant("mode"),
            let (label, value) = Mirror(reflecting: mode).children.first
        else { return nil }
        switch label {
        case "byteBuffer", "sequence": self = .inMemory
        case "asyncSequence":
            let length = Mirror(reflecting: value).descendant("length")
            self = .stream(length: length.flatMap { Mirror(reflecting: $0).descendant("known") as? Int64 })
        default: return nil
        }
    }
}
