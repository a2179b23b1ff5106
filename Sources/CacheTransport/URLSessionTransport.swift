#if canImport(Darwin)
public import Foundation
internal import Synchronization

/// The transport on `URLSession`, for apps. On Apple's systems the ``DefaultTransport``.
///
/// The session's own cache, cookies, credentials and redirects are off. Bodies stream; the transport suspends a task
/// while its reader lags behind by more than 256 KiB.
///
/// Content in memory is sent from memory. The transport writes a stream to a temporary file before sending. Only the
/// user can read the file; the transport removes the file after the exchange.
///
/// `URLSession` also removes known content codings (``TransportResponse/isBodyDecoded``), and joins field lines of the
/// same name with a comma. A program cannot turn this off. It hides interim responses.
public final class URLSessionTransport: HTTPTransport {
    /// The settings of a transport.
    public struct Configuration: Sendable {
        /// The longest time without activity; 60 seconds by default.
        public var idleTimeout: Duration = .seconds(60)
        /// The maximum number of simultaneous connections to one host; 6 by default.
        public var connectionsPerHost: Int = 6
        /// The `User-Agent` of requests without one; "CacheStore" by default.
        public var userAgent: String = "CacheStore"
        /// The hosts whose certificates are accepted even if invalid, for a local development server. None by default.
        public var hostsWithAnyCertificate: Set<String> = []

        /// Creates the default configuration.
        public init() {}
    }

    private let session: URLSession
    private let tasks: SessionTasks
    private let idleTimeout: Duration
    /// The fields of requests that do not have them.
    private let addedFields: HTTPFields

    /// Creates a transport with its own session.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(sessionConfiguration: .ephemeral, configuration: configuration)
    }

    /// Creates a transport whose session has the caller's settings, such as proxies, TLS versions or protocol classes.
    ///
    /// Copies the settings, and turns off cache, cookies and stored credentials in the copy. `configuration` replaces
    /// the timeout of a request and the number of connections. ``prepare(_:)`` shows `httpAdditionalHeaders`. An
    /// existing `URLSession` cannot be used, because its delegate cannot change. A background configuration cannot be
    /// used either.
    ///
    /// - Parameters:
    ///   - sessionConfiguration: The settings of the session.
    ///   - configuration: The settings of the transport.
    public init(
        sessionConfiguration: URLSessionConfiguration, configuration: Configuration = Configuration()
    ) {
        guard let settings = sessionConfiguration.copy() as? URLSessionConfiguration else {
            preconditionFailure("a copy has the class of its original")
        }
        addedFields = HTTPFields(of: settings, userAgent: configuration.userAgent)
        // The session would add them after the cache has matched `Vary`.
        settings.httpAdditionalHeaders = nil
        settings.urlCache = nil
        settings.requestCachePolicy = .reloadIgnoringLocalCacheData
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.httpCookieAcceptPolicy = .never
        settings.urlCredentialStorage = nil
        settings.timeoutIntervalForRequest = configuration.idleTimeout / .seconds(1)
        settings.httpMaximumConnectionsPerHost = configuration.connectionsPerHost
        tasks = SessionTasks(trust: ServerTrust(hosts: configuration.hostsWithAnyCertificate))
        idleTimeout = configuration.idleTimeout
        session = URLSession(configuration: settings, delegate: tasks, delegateQueue: nil)
    }

    deinit {
        // The session keeps its delegate alive until it is invalidated.
        session.finishTasksAndInvalidate()
    }

    /// Adds the fields that the session would add invisibly, so that `Vary` is matched against the request on the wire.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        for field in addedFields where request.headerFields[field.name] == nil { request.headerFields.append(field) }
        return request
    }

    /// Sends `request`; see ``HTTPTransport/send(_:content:onInterimResponse:)``. `URLSession` hides interim responses.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        var urlRequest = try URLRequest.make(request, timeout: idleTimeout / .seconds(1))
        var spooled: SpooledContent?
        let task: URLSessionDataTask
        if let content, content.data == nil {
            let file = try await SpooledContent(content)
            spooled = file
            task = session.uploadTask(with: urlRequest, fromFile: file.url)
        } else {
            urlRequest.httpBody = content?.data
            task = session.dataTask(with: urlRequest)
        }
        let exchange = SessionExchange(task: task, method: request.method, spooled: spooled)
        tasks.add(exchange)
        return try await exchange.start()
    }
}

extension HTTPFields {
    /// Creates the fields that a session adds to requests, its `httpAdditionalHeaders` included.
    fileprivate init(of settings: URLSessionConfiguration, userAgent: String) {
        let languages = Locale.preferredLanguages.prefix(6)
        self = [
            .accept: "*/*", .acceptEncoding: ContentCodings.accepted,
            .acceptLanguage: languages.isEmpty ? "en" : languages.joined(separator: ", "), .userAgent: userAgent,
        ]
        for (name, value) in settings.httpAdditionalHeaders ?? [:] {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                continue
            }
            self[name] = value
        }
    }
}

extension URLRequest {
    /// Returns the request as `URLSession` expects it.
    fileprivate static func make(
        _ request: HTTPRequest, timeout: TimeInterval
    ) throws(TransportError) -> URLRequest {
        guard let scheme = request.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let authority = request.authority, let url = URL(string: "\(scheme)://\(authority)\(request.path ?? "/")")
        else {
            throw TransportError(.unsupportedRequest, message: "only absolute http and https URLs can be loaded")
        }
        var result = URLRequest(url: url, timeoutInterval: timeout)
        result.httpMethod = request.method.rawValue
        // Sets each name once: `addValue` joins the lines of a field with commas, which is wrong for Cookie.
        for field in request.headerFields where result.value(forHTTPHeaderField: field.name.rawName) == nil {
            result.setValue(request.headerFields[field.name], forHTTPHeaderField: field.name.rawName)
        }
        return UncachedRequest.marked(result)
    }
}

/// The current exchanges by the identifier of their task. Receives all callbacks of the session.
private final class SessionTasks: NSObject, URLSessionDataDelegate, Sendable {
    /// Guards the table only; each exchange guards itself.
    private let exchanges = Mutex<[Int: SessionExchange]>([:])
    private let trust: ServerTrust

    init(trust: ServerTrust) {
        self.trust = trust
    }

    func add(_ exchange: SessionExchange) {
        exchanges.withLock { $0[exchange.task.taskIdentifier] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> SessionExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The redirect itself is the response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard trust.answers(space.authenticationMethod, of: space.host), let certificates = space.serverTrust else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        completionHandler(.useCredential, URLCredential(trust: certificates))
    }
}
#endif
