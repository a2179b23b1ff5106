internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension URLError {
    /// Creates the error that a program on `URLSession` expects. Its `NSUnderlyingErrorKey` is the error of the cache.
    /// `hasStream` tells whether the content of the request is a stream, which cannot be sent twice.
    init(_ error: LoadError, _ url: URL?, hasStream: Bool = false) {
        var information: [String: Any] = [
            NSLocalizedDescriptionKey: "\(error)", NSUnderlyingErrorKey: error,
        ]
        information[NSURLErrorFailingURLErrorKey] = url
        var code = Self.code(of: error)
        if hasStream, case .transport(let error, _) = error, error.code == .unsupportedRequest {
            code = .requestBodyStreamExhausted
        }
        self.init(code, userInfo: information)
    }

    private static func code(of error: LoadError) -> URLError.Code {
        switch error {
        case .cancelled: .cancelled
        case .transport(let error, _): code(of: error)
        case .invalidURL(let url, _): hasSupportedScheme(url) ? .badURL : .unsupportedURL
        case .notCached: .resourceUnavailable
        case .tooManyRedirects: .httpTooManyRedirects
        case .malformedContent, .digestMismatch: .cannotDecodeContentData
        case .bodyTooLarge: .dataLengthExceedsMaximum
        case .unwritableFile: .cannotWriteToFile
        case .store: .cannotOpenFile
        default: .unknown
        }
    }

    private static func hasSupportedScheme(_ url: String) -> Bool {
        let start = url.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    private static func code(of error: TransportError) -> URLError.Code {
        switch error.code {
        case .cannotFindHost: .cannotFindHost
        case .cannotConnect: .cannotConnectToHost
        case .connectionLost, .truncated: .networkConnectionLost
        case .timedOut: .timedOut
        case .insecure: .secureConnectionFailed
        case .malformedResponse: .cannotParseResponse
        case .unsupportedRequest: .unsupportedURL
        case .cancelled: .cancelled
        default: .unknown
        }
    }
}
