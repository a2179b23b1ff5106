internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Converts a `URLRequest` for a cache.
struct SessionRequest {
    let url: String
    let method: HTTPRequest.Method
    let headerFields: HTTPFields
    let content: RequestContent?
    let policy: CachePolicy.Override

    /// `content` is neither the `httpBody` nor the `httpBodyStream` of the request.
    init(_ request: URLRequest, content given: RequestContent? = nil) throws(URLError) {
        guard let url = request.url, let method = HTTPRequest.Method(rawValue: request.httpMethod ?? "GET") else {
            throw URLError(.badURL)
        }
        self.url = url.absoluteString
        self.method = method
        content =
            given ?? request.httpBody.map { RequestContent($0) }
            ?? request.httpBodyStream.map { RequestContent(reading: $0) }
        var fields = HTTPFields()
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard let name = HTTPField.Name(name), !Self.framing.contains(name.canonicalName) else { continue }
            fields[name] = value
        }
        // URLSession sends this type for a program that sets no type.
        if content != nil, method == .post, !fields.contains(.contentType) {
            fields[.contentType] = "application/x-www-form-urlencoded"
        }
        policy = Self.policy(request.cachePolicy, &fields)
        headerFields = fields
    }

    /// The fields that the URL and the content determine.
    private static let framing: Set<String> = ["host", "connection", "content-length", "transfer-encoding"]

    /// Returns the changes to the configured policy.
    /// https://developer.apple.com/documentation/foundation/nsurlrequest/cachepolicy-swift.enum
    private static func policy(
        _ policy: URLRequest.CachePolicy, _ fields: inout HTTPFields
    ) -> CachePolicy.Override {
        switch policy {
        case .reloadIgnoringLocalCacheData: return .remoteOnly
        case .reloadIgnoringLocalAndRemoteCacheData:
            // RFC 9111 §5.2.1.4, and §5.4 for caches that support only HTTP/1.0.
            if !fields.contains(.cacheControl) {
                fields[.cacheControl] = "no-cache"
                if let pragma = HTTPField.Name("Pragma") { fields[pragma] = "no-cache" }
            }
            return .remoteOnly
        case .returnCacheDataElseLoad: return .cacheFirst
        case .returnCacheDataDontLoad: return .cacheOnly
        case .reloadRevalidatingCacheData: return .revalidateAlways
        // `.useProtocolCachePolicy`. Apple's systems may add policies.
        default: return .init()
        }
    }
}

extension RequestContent {
    /// Creates content from a stream. Reads the stream once, on a separate queue, because it may block.
    init(reading stream: InputStream, length: Int64? = nil) {
        let reader = StreamReader(stream)
        self.init(length: length) { () async throws(TransportError) in try await reader.next().get() }
    }
}

/// Reads a stream on a serial queue. `@unchecked`: only blocks on the queue use the stream.
private final class StreamReader: @unchecked Sendable {
    private static let chunkByteCount = 65_536

    private let stream: InputStream
    private var isOpen = false
    private let queue = DispatchQueue(label: "cachestore.httpBodyStream")

    init(_ stream: InputStream) {
        self.stream = stream
    }

    deinit {
        stream.close()
    }

    func next() async -> Result<Data?, TransportError> {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read()) }
        }
    }

    private func read() -> Result<Data?, TransportError> {
        if !isOpen { stream.open() }
        isOpen = true
        var bytes = [UInt8](repeating: 0, count: Self.chunkByteCount)
        let count = stream.read(&bytes, maxLength: bytes.count)
        guard count >= 0 else {
            let reason = stream.streamError.map { "\($0)" } ?? "unknown error"
            return .failure(TransportError(.other, message: "the body stream could not be read: \(reason)"))
        }
        return .success(count == 0 ? nil : Data(bytes[..<count]))
    }
}
