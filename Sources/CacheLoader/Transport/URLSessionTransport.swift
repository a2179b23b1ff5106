#if URLSessionTransport
public import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif
public import HTTPTypes
internal import Synchronization

/// The transport on `URLSession`.
///
/// The session's own cache, cookies, credentials and redirects are off. Bodies stream. On Apple's systems the task is
/// suspended while its reader lags behind by more than 256 KiB; on Linux `URLSession` has no way to hold the sender back,
/// and what the reader has not taken waits in memory.
///
/// Content that is in memory is sent from there. A stream is written to a temporary file first, which only the user may read
/// and which is removed with the exchange, and sent when it has ended: `URLSession` on Linux takes no stream that can wait.
///
/// What `URLSession` does not let a program choose, it does here too: it removes the content codings it knows
/// (``TransportResponse/isBodyDecoded``), and joins field lines of the same name with a comma. On Linux it sends a GET once
/// more when a connection that was kept alive is dead, and trailers, or a head that breaks off, end the process:
/// <doc:Transports>.
public final class URLSessionTransport: HTTPTransport {
    /// How a session behaves.
    public struct Configuration: Sendable {
        /// The longest to wait for anything to arrive, in seconds; 60 by default.
        public var idleTimeout: TimeInterval = 60
        /// Connections to one host at once; 6 by default.
        public var connectionsPerHost: Int = 6
        /// `User-Agent` of requests that have none; "CacheStore" by default.
        public var userAgent: String = "CacheStore"
        /// Hosts whose certificates are accepted, whatever is wrong with them: for a server on one's own desk. None by default.
        ///
        /// `URLSession` lets a program do so on Apple's systems only. Elsewhere an `https` request to such a host ends in
        /// ``TransportError/Code/unsupportedRequest``.
        public var hostsWithAnyCertificate: Set<String> = []

        /// The defaults.
        public init() {}
    }

    private let session: URLSession
    private let tasks: SessionTasks
    private let trust: ServerTrust
    private let idleTimeout: TimeInterval
    private let userAgent: String
    private let acceptLanguage: String

    /// Creates a transport with a session of its own.
    public init(configuration: Configuration = Configuration()) {
        let settings = URLSessionConfiguration.ephemeral
        settings.urlCache = nil
        settings.requestCachePolicy = .reloadIgnoringLocalCacheData
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.httpCookieAcceptPolicy = .never
        settings.urlCredentialStorage = nil
        settings.timeoutIntervalForRequest = configuration.idleTimeout
        settings.httpMaximumConnectionsPerHost = configuration.connectionsPerHost
        trust = ServerTrust(hosts: configuration.hostsWithAnyCertificate)
        tasks = SessionTasks(trust: trust)
        idleTimeout = configuration.idleTimeout
        userAgent = configuration.userAgent
        let languages = Locale.preferredLanguages.prefix(6)
        acceptLanguage = languages.isEmpty ? "en" : languages.joined(separator: ", ")
        session = URLSession(configuration: settings, delegate: tasks, delegateQueue: nil)
    }

    deinit {
        // The session keeps its delegate alive until it is told that nothing more will come.
        session.finishTasksAndInvalidate()
    }

    /// Says what the session would otherwise add unseen, so that `Vary` is matched against what the origin sees.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        let defaults: [(HTTPField.Name, String)] = [
            (.accept, "*/*"), (.acceptEncoding, ContentCodings.accepted), (.acceptLanguage, acceptLanguage),
            (.userAgent, userAgent),
        ]
        for (name, value) in defaults where request.headerFields[name] == nil { request.headerFields[name] = value }
        return request
    }

    /// Sends `request`; see ``HTTPTransport/send(_:content:)``.
    public func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        var urlRequest = try URLRequest.make(request, timeout: idleTimeout)
        #if canImport(FoundationNetworking)
        if request.scheme?.lowercased() == "https", trust.accepts(anyCertificateOf: urlRequest.url?.host() ?? "") {
            throw TransportError(
                .unsupportedRequest, message: "URLSession lets no program accept a certificate on this system")
        }
        #endif
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
        let exchange = SessionExchange(
            task: task, method: request.method, spooled: spooled, idleTimeout: idleTimeout)
        tasks.add(exchange)
        return try await exchange.start()
    }
}

extension URLRequest {
    /// The request in the terms of `URLSession`.
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
        // Each name once: `addValue` joins the lines of a field with commas, which is wrong for Cookie.
        for field in request.headerFields where result.value(forHTTPHeaderField: field.name.rawName) == nil {
            result.setValue(request.headerFields[field.name], forHTTPHeaderField: field.name.rawName)
        }
        return result
    }
}

/// The content codings that the session removes.
enum ContentCodings {
    #if canImport(FoundationNetworking)
    private static let removed: [String] = ["gzip", "deflate"]
    #else
    private static let removed: [String] = ["gzip", "deflate", "br"]
    #endif

    /// The value of `Accept-Encoding`.
    static let accepted = removed.joined(separator: ", ")

    /// Whether the session removes `codings`, the value of `Content-Encoding`.
    static func removes(_ codings: String) -> Bool {
        let codings = codings.lowercased().split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
        return !codings.isEmpty && codings.allSatisfy { removed.contains($0) || $0 == "x-gzip" }
    }
}

/// The exchanges in progress, by the number of their task. Receives everything that the session has to say.
private final class SessionTasks: NSObject, URLSessionDataDelegate, Sendable {
    /// Guards the table only; an exchange guards itself.
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
        // The redirect itself is the answer.
        completionHandler(nil)
    }

    #if !canImport(FoundationNetworking)
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
    #endif
}
#endif
