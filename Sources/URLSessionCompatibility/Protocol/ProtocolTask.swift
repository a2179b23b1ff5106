internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking

/// The parts of a task that a protocol needs and that have no public name in FoundationNetworking. FoundationNetworking
/// reads the delegates of its tasks on their queue, without a lock. So a client may be called on that queue only, on
/// which `startLoading` runs, too. Its client ends the process on a redirect, keeps the last chunk only for a
/// completion handler, and gives the content of an upload to its own protocols alone. So a protocol must find queue,
/// session and content itself: with `Mirror`, which returns nothing if a later version has other names. The session
/// then loads the request without a cache. `@unchecked`: task and session are those of the delegate's callbacks, which
/// Foundation calls on any thread.
struct ProtocolTask: @unchecked Sendable {
    let queue: DispatchQueue
    /// Whether a completion handler takes the body. It receives the last chunk, which must be the whole.
    let takesWholeBody: Bool
    private let task: URLSessionTask
    private let session: URLSession
    private let delegate: (any URLSessionTaskDelegate)?
    private let body: Any?

    /// Call from `startLoading`. Returns `nil` for a download task: its file can come only from the system's protocol.
    init?(_ source: URLProtocol) {
        guard let task = source.task, !(task is URLSessionDownloadTask),
            let queue = Self.property("workQueue", of: task) as? DispatchQueue,
            let session = Self.property("session", of: task) as? URLSession,
            let registry = Self.property("taskRegistry", of: session),
            let behaviours = Self.property("behaviours", of: registry) as? any IntegerKeyed,
            let behaviour = behaviours.value(for: task.taskIdentifier)
        else { return nil }
        self.task = task
        self.queue = queue
        self.session = session
        let handler = Mirror(reflecting: behaviour).children.first
        takesWholeBody = handler != nil
        let delegates = handler.map { Mirror(reflecting: $0.value).children.compactMap { Self.unwrapped($0.value) } }
        delegate = delegates?.lazy.compactMap { $0 as? any URLSessionTaskDelegate }.first ?? task.delegate
        body = Self.property("knownBody", of: task)
    }

    /// Returns the content. Asks the delegate of `uploadTask(withStreamedRequest:)` for its stream.
    func content(of request: URLRequest) async -> SessionContent? {
        guard let body else { return task is URLSessionUploadTask ? await stream(of: request) : nil }
        switch Mirror(reflecting: body).children.first?.value {
        case let data as DispatchData: return .data(Data(data))
        case let file as URL: return .file(file)
        case let stream as InputStream: return SessionContent(stream, request)
        default: return nil
        }
    }

    private func stream(of request: URLRequest) async -> SessionContent? {
        guard let delegate else { return nil }
        return await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation { [self] in
                delegate.urlSession(session, task: task) { stream in
                    continuation.resume(returning: stream.map { SessionContent($0, request) })
                }
            }
        }
    }

    /// Returns the protocol that the session would use without a cache.
    static func systemProtocol(for source: URLProtocol) -> URLProtocol? {
        guard let task = source.task else { return nil }
        let types = (URLSessionConfiguration.default.protocolClasses ?? []).lazy.compactMap { $0 as? URLProtocol.Type }
        return types.first { $0.canInit(with: source.request) }?
            .init(task: task, cachedResponse: nil, client: source.client)
    }

    /// Asks the delegate about a redirect. Returns its request, or `nil` if it refuses.
    func redirect(to request: URLRequest, by response: HTTPURLResponse) async -> URLRequest? {
        guard let delegate else { return request }
        return await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation { [self] in
                delegate.urlSession(
                    session, task: task, willPerformHTTPRedirection: response, newRequest: request
                ) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Returns when the delegate has taken all that it was given.
    func delegateHasReturned() async {
        guard delegate != nil else { return }
        await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation { continuation.resume() }
        }
    }

    // MARK: Reflection

    /// Returns the property of an object, or `nil` if it has none of this name, or no value.
    private static func property(_ name: String, of object: Any) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: object)
        while let current = mirror {
            if let child = current.children.first(where: { $0.label == name }) { return unwrapped(child.value) }
            mirror = current.superclassMirror
        }
        return nil
    }

    private static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional ? mirror.children.first?.value : value
    }
}

/// A dictionary with integers as keys. Its values may be of a type without a public name.
private protocol IntegerKeyed {
    func value(for key: Int) -> Any?
}

extension Dictionary: IntegerKeyed where Key == Int {
    fileprivate func value(for key: Int) -> Any? { self[key] }
}
#else

/// The queue and the content of a task. A client may be called on any thread. The queue keeps the order of the calls.
struct ProtocolTask: Sendable {
    let queue = DispatchQueue(label: "cachestore.URLProtocol")
    let takesWholeBody = false

    init?(_ source: URLProtocol) {}

    func content(of request: URLRequest) async -> SessionContent? {
        request.httpBody.map { .data($0) } ?? request.httpBodyStream.map { SessionContent($0, request) }
    }

    static func systemProtocol(for source: URLProtocol) -> URLProtocol? { nil }

    /// Returns immediately: a client does not tell when the delegate has taken a chunk.
    func delegateHasReturned() async {}
}
#endif
