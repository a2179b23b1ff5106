public import CacheLoader
public import CacheStore
public import Foundation
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPCache {
    /// Stores the file of a download task, for example of a background `URLSession`.
    ///
    /// ```swift
    /// func urlSession(_ session: URLSession, downloadTask task: URLSessionDownloadTask, didFinishDownloadingTo file: URL) {
    ///     guard let response = task.response, let request = task.originalRequest else { return }
    ///     _ = try? cache.storeDownload(at: file, response: response, for: request)
    /// }
    /// ```
    ///
    /// Stores the response to a GET as if the cache had received it now: by RFC 9111 and the policy, into the partition
    /// of the configuration. The age counts from `Date`, so it includes the time that the system keeps the file. After
    /// redirects, stores the response under its final URL, because the redirects themselves are unknown. Accepts a 206
    /// for a resumed download if the file is the whole.
    ///
    /// Copies the file on the calling thread and leaves it in place. The system deletes the file when the delegate
    /// method returns.
    ///
    /// - Parameters:
    ///   - file: The whole body, as written by the session.
    ///   - response: The response of the task.
    ///   - request: The request of the program. Its fields select the response by `Vary`.
    /// - Returns: The entry.
    /// - Throws: ``/CacheLoader/LoadError/notStorable(url:)`` if HTTP, the policy or the limits of the store forbid
    ///   storing, ``/CacheLoader/LoadError/invalidURL(_:reason:)``,
    ///   ``/CacheLoader/LoadError/unreadableFile(path:reason:)``, ``/CacheLoader/LoadError/store(_:)``. After an error
    ///   the store keeps nothing of the file.
    @discardableResult
    public func storeDownload(
        at file: URL, response: URLResponse, for request: URLRequest
    ) throws(LoadError) -> StoredEntry {
        guard let requested = request.url, let response = response as? HTTPURLResponse else {
            throw .notStorable(url: request.url?.absoluteString ?? "")
        }
        let url = response.url ?? requested
        let refused = LoadError.notStorable(url: url.absoluteString)
        guard request.httpMethod ?? "GET" == "GET" else { throw refused }
        let content = try DownloadedFile(file)
        var received = ReceivedResponse(response, url, request, requested, at: configuration.clock())
        if received.head.status == .partialContent { received.becomeWhole(ofLength: content.byteCount) }
        received.removeCoding(if: ContentCodings.removes)
        guard !received.contradicts(byteCount: content.byteCount), content.byteCount <= configuration.maxBodyBytes,
            let placement = try placement(of: received)
        else { throw refused }
        let writer = store.makeBodyWriter()
        while let chunk = try content.nextChunk() {
            try storing(refused) { () throws(StoreError) in try writer.write(chunk) }
        }
        guard writer.byteCount == content.byteCount else {
            throw .unreadableFile(path: content.path, reason: "its length has changed")
        }
        return try storing(refused) { () throws(StoreError) in
            try writer.commit(placement.metadata, for: placement.key)
        }
    }

    private func storing<Value>(
        _ refused: LoadError, _ body: () throws(StoreError) -> Value
    ) throws(LoadError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            throw error.isRefusal ? refused : .store(error)
        }
    }
}

extension ReceivedResponse {
    fileprivate init(
        _ response: HTTPURLResponse, _ url: URL, _ request: URLRequest, _ requested: URL, at time: Date
    ) {
        var fields = HTTPFields((request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) })
        // A redirect to another origin has dropped the credentials.
        if (url.scheme, url.host, url.port) != (requested.scheme, requested.host, requested.port) {
            fields[.authorization] = nil
            fields[.cookie] = nil
        }
        let received = response.allHeaderFields.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name: name, value: $0) } }
        }
        let status = HTTPResponse.Status(code: min(max(response.statusCode, 0), 999))
        self.init(
            url: url.absoluteString, requestFields: fields,
            head: HTTPResponse(status: status, headerFields: HTTPFields(received)), isBodyDecoded: false,
            requestedAt: time, receivedAt: time)
    }

    /// Turns the response to the rest of a resumed download into a response with the whole, if the file has all bytes.
    fileprivate mutating func becomeWhole(ofLength byteCount: Int64) {
        guard !requestFields.contains(.range), let part = StoredPart(contentRange: head.headerFields),
            part.completeLength == byteCount, part.bytes.upperBound == byteCount
        else { return }
        head.becomeWhole(ofLength: byteCount)
    }
}

/// A file that is read once, from start to end.
private struct DownloadedFile {
    private static let chunkByteCount = 262_144

    let path: String
    let byteCount: Int64
    private let handle: FileHandle

    init(_ file: URL) throws(LoadError) {
        path = file.path(percentEncoded: false)
        do {
            handle = try FileHandle(forReadingFrom: file)
            byteCount = Int64(try handle.seekToEnd())
            try handle.seek(toOffset: 0)
        } catch {
            throw .unreadableFile(path: path, reason: "\(error)")
        }
    }

    /// Returns the next bytes, or `nil` at the end.
    func nextChunk() throws(LoadError) -> Data? {
        do {
            guard let data = try handle.read(upToCount: Self.chunkByteCount), !data.isEmpty else { return nil }
            return data
        } catch {
            throw .unreadableFile(path: path, reason: "\(error)")
        }
    }
}
