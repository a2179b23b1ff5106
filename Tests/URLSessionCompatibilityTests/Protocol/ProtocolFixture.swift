#if Curl || canImport(Darwin)
import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An origin on loopback, and sessions that reach it through a cache.
final class ProtocolFixture: Sendable {
    let cache: SessionFixture
    let origin: LoopbackOrigin

    init(
        configure: (inout HTTPCache.Configuration) -> Void = { _ in },
        reply: @escaping @Sendable (OriginRequest) async -> OriginReply
    ) async throws {
        cache = try SessionFixture(DefaultTransport(), configure: configure)
        // The clock of the test has the time, not the origin.
        origin = try await LoopbackOrigin(date: { nil }, reply: reply)
    }

    deinit {
        // The process keeps the cache.
        cache.store.close()
    }

    func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession(configuration: .ephemeral.cached(by: cache.cache), delegate: delegate, delegateQueue: nil)
    }

    func request(_ path: String, _ method: String = "GET", body: Data? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: origin.url(path))))
        request.httpMethod = method
        request.httpBody = body
        return request
    }
}

/// The ways of a program to start a task.
enum TaskKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case dataMethod = "data(for:)"
    case dataHandler = "dataTask(with:completionHandler:)"
    case dataDelegate = "dataTask(with:) and a delegate"
    case downloadMethod = "download(for:)"
    case downloadHandler = "downloadTask(with:completionHandler:)"
    case downloadDelegate = "downloadTask(with:) and a delegate"
    case uploadMethod = "upload(for:from:)"
    case uploadFileMethod = "upload(for:fromFile:)"
    case uploadHandler = "uploadTask(with:from:completionHandler:)"
    case uploadDelegate = "uploadTask(with:from:) and a delegate"
    case uploadStream = "uploadTask(withStreamedRequest:)"
    case bodyStream = "dataTask(with:) and a body stream"

    static let loads: [TaskKind] = [.dataMethod, .dataHandler, .dataDelegate]
    static let downloads: [TaskKind] = [.downloadMethod, .downloadHandler, .downloadDelegate]
    static let uploads = allCases.filter { !(loads + downloads).contains($0) }

    var testDescription: String { rawValue }
    /// Runs a task of this kind to its end.
    func run(_ request: URLRequest, in fixture: ProtocolFixture) async throws -> (Data, HTTPURLResponse) {
        let recorder = TaskRecorder()
        let delegated = fixture.session(recorder)
        let session = fixture.session()
        defer {
            delegated.finishTasksAndInvalidate()
            session.finishTasksAndInvalidate()
        }
        var request = request
        let content = request.httpBody ?? Data()
        if TaskKind.uploads.contains(self) { request.httpBody = nil }
        let file = fixture.cache.file("content")
        switch self {
        case .dataMethod: return try Self.http(await session.data(for: request))
        case .dataHandler: return try await Self.handled { session.dataTask(with: request, completionHandler: $0) }
        case .uploadMethod: return try Self.http(await session.upload(for: request, from: content))
        case .uploadFileMethod:
            try content.write(to: file)
            return try Self.http(await session.upload(for: request, fromFile: file))
        case .uploadHandler:
            return try await Self.handled { session.uploadTask(with: request, from: content, completionHandler: $0) }
        case .downloadMethod:
            let (file, response) = try await session.download(for: request)
            return try Self.http((Data(contentsOf: file), response))
        case .downloadHandler:
            return try await Self.handled { handler in
                session.downloadTask(with: request) { file, response, error in
                    handler(file.flatMap { try? Data(contentsOf: $0) }, response, error)
                }
            }
        case .dataDelegate: return try await recorder.result(of: delegated.dataTask(with: request))
        case .downloadDelegate: return try await recorder.result(of: delegated.downloadTask(with: request))
        case .uploadDelegate: return try await recorder.result(of: delegated.uploadTask(with: request, from: content))
        case .uploadStream:
            recorder.content = content
            return try await recorder.result(of: delegated.uploadTask(withStreamedRequest: request))
        case .bodyStream:
            request.httpBodyStream = InputStream(data: content)
            return try await recorder.result(of: delegated.dataTask(with: request))
        }
    }

    private static func http(_ result: (Data, URLResponse)) throws -> (Data, HTTPURLResponse) {
        (result.0, try result.1.http)
    }

    private static func handled(
        _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Data, HTTPURLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            make { data, response, error in
                if let data, let response = response as? HTTPURLResponse {
                    continuation.resume(returning: (data, response))
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }.resume()
        }
    }
}

/// A delegate that keeps what a task delivers.
///
/// `@unchecked`: a test sets the closures before the task starts.
final class TaskRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    struct State {
        var data = Data()
        var callbacks: [String] = []
        var waiting: CheckedContinuation<(Data, HTTPURLResponse), any Error>?
    }

    let state = Mutex(State())
    var content = Data()
    var onCallback: (String, URLSessionTask) -> Void = { _, _ in }
    var onRedirect: (URLRequest) -> URLRequest? = { $0 }
    var credential: URLCredential?

    var callbacks: [String] { state.withLock { $0.callbacks } }

    func result(of task: URLSessionTask) async throws -> (Data, HTTPURLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0.waiting = continuation }
            task.resume()
        }
    }

    private func record(_ name: String, _ task: URLSessionTask) {
        state.withLock { $0.callbacks.append(name) }
        onCallback(name, task)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        record("response", dataTask)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.data.append(data) }
        record("data", dataTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let data = (try? Data(contentsOf: location)) ?? Data()
        state.withLock { $0.data = data }
        record("file", downloadTask)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        record("redirect \(response.statusCode)", task)
        completionHandler(onRedirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStream: @escaping @Sendable (InputStream?) -> Void
    ) {
        record("stream", task)
        needNewBodyStream(InputStream(data: content))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        record("challenge", task)
        completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        record("end", task)
        let (waiting, data) = state.withLock { state in
            defer { state.waiting = nil }
            return (state.waiting, state.data)
        }
        if let response = task.response as? HTTPURLResponse, error == nil {
            waiting?.resume(returning: (data, response))
        } else {
            waiting?.resume(throwing: error ?? URLError(.unknown))
        }
    }
}
#endif
