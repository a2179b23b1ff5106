internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The settings of a session that its protocol class must apply itself.
struct SessionSettings: Sendable {
    private let additionalFields: [String: String]
    private let cachePolicy: URLRequest.CachePolicy
    private let timeout: TimeInterval
    private let cookieStorage: HTTPCookieStorage?
    private let acceptsCookies: Bool

    init(_ configuration: URLSessionConfiguration) {
        var fields: [String: String] = [:]
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            if let name = name as? String { fields[name] = value as? String }
        }
        additionalFields = fields
        cachePolicy = configuration.requestCachePolicy
        timeout = configuration.timeoutIntervalForRequest
        cookieStorage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
        acceptsCookies = configuration.httpCookieAcceptPolicy != .never
    }

    /// Returns the request with the cookies and the fields of the session. The fields of a request take precedence.
    /// `origin` is the first URL of the task. A request to another origin, after a redirect, gets no credentials from
    /// the fields of the session (RFC 9110 §15.4).
    func applied(to request: URLRequest, from origin: URL?) -> URLRequest {
        var request = request
        var fields = HTTPFields(additionalFields.map { (name: $0.key, value: $0.value) })
        if request.url?.hasOrigin(of: origin) == false { Redirect.removeCredentials(from: &fields) }
        for field in fields where request.value(forHTTPHeaderField: field.name.rawName) == nil {
            request.setValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        if request.cachePolicy == .useProtocolCachePolicy { request.cachePolicy = cachePolicy }
        // A request does not tell whether its program has set the default.
        if request.timeoutInterval == Self.defaultTimeout { request.timeoutInterval = timeout }
        if request.httpShouldHandleCookies, request.value(forHTTPHeaderField: "Cookie") == nil, let url = request.url {
            let cookies = cookieStorage?.cookies(for: url) ?? []
            let fields = cookies.isEmpty ? [:] : HTTPCookie.requestHeaderFields(with: cookies)
            request.setValue(fields["Cookie"], forHTTPHeaderField: "Cookie")
        }
        return request
    }

    private static let defaultTimeout: TimeInterval = 60

    /// Returns the next request of a redirect without the cookies of the storage. ``applied(to:)`` adds those for its
    /// URL.
    func withoutCookies(_ request: URLRequest) -> URLRequest {
        guard cookieStorage != nil, request.httpShouldHandleCookies else { return request }
        var request = request
        request.setValue(nil, forHTTPHeaderField: "Cookie")
        return request
    }

    func storeCookies(_ lines: [String], of response: HTTPURLResponse, to request: URLRequest) {
        guard let cookieStorage, acceptsCookies, request.httpShouldHandleCookies, let url = response.url else { return }
        // A dictionary would join the lines with commas, which dates contain, too.
        let cookies = lines.flatMap { HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": $0], for: url) }
        if !cookies.isEmpty { cookieStorage.setCookies(cookies, for: url, mainDocumentURL: request.mainDocumentURL) }
    }
}

extension SessionSettings: Equatable {
    static func == (first: SessionSettings, second: SessionSettings) -> Bool {
        first.additionalFields == second.additionalFields && first.cachePolicy == second.cachePolicy
            && first.timeout == second.timeout && first.cookieStorage === second.cookieStorage
            && first.acceptsCookies == second.acceptsCookies
    }
}
