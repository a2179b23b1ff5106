internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The content of a task. A redirect may need it again.
enum SessionContent: Sendable {
    case data(Data)
    case file(URL)
    case stream(RequestContent)

    /// The most bytes of a stream to keep in memory. On Apple's systems a protocol sees any content as a stream.
    private static let maxKeptBytes: Int64 = 65_536

    init(_ stream: InputStream, _ request: URLRequest) {
        let length = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        self = .stream(RequestContent(reading: stream, length: length.flatMap { $0 < 0 ? nil : $0 }))
    }

    /// Returns the content for one attempt.
    mutating func forSending(_ request: URLRequest) async throws(URLError) -> RequestContent {
        switch self {
        case .data(let data): return RequestContent(data)
        case .file(let file):
            let handle = try? FileHandle(forReadingFrom: file)
            guard let length = try? handle?.seekToEnd(), let stream = InputStream(url: file) else {
                throw URLError(.fileDoesNotExist, userInfo: [NSURLErrorFailingURLErrorKey: file])
            }
            return RequestContent(reading: stream, length: Int64(length))
        case .stream(let content):
            guard let length = content.length, length <= Self.maxKeptBytes else { return content }
            var data = Data()
            do throws(TransportError) {
                while let chunk = try await content.next() { data.append(chunk) }
            } catch {
                throw URLError(.transport(error, url: request.url?.absoluteString ?? ""), request.url)
            }
            self = .data(data)
            return RequestContent(data)
        }
    }
}
