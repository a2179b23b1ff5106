public import CacheLoader
public import Foundation
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The loading methods of `URLSession`, with the same names, types and meanings.
///
/// To use the cache, a program on `URLSession` changes the receiver:
///
/// ```swift
/// let (data, response) = try await URLSession.shared.data(for: request)
/// let (data, response) = try await cache.data(for: request)
/// ```
///
/// The cache answers by RFC 9111 and by the `cachePolicy` of the request. It follows redirects and removes the content
/// codings gzip and deflate. The response is an `HTTPURLResponse` of any status: an unsuccessful status is no error.
///
/// All methods may be called from any task, suspend without blocking a thread, and throw only `URLError`. Cancelling
/// the calling task throws `URLError.cancelled`. The page of this module lists the errors and the differences from
/// `URLSession`.
extension HTTPCache {
    /// Returns the body and the response for a request.
    ///
    /// A stored body costs one lookup and one read on the calling thread. A large body is memory-mapped. A body from
    /// the network is returned once it is stored.
    ///
    /// - Throws: `URLError`.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let exchange = try await SessionExchange(request, self)
        return (try await exchange.data(), exchange.urlResponse)
    }

    /// Returns the body and the response for a GET of a URL, like ``data(for:)``.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Returns the response for a request once its head has arrived, and its body as a sequence of bytes.
    ///
    /// The body arrives at the pace of its reader, and is stored when the reader reaches its end. Releasing the
    /// sequence and its iterators ends the exchange. A body can be read once.
    ///
    /// - Throws: `URLError`, also while reading the sequence.
    public func bytes(for request: URLRequest) async throws -> (ResponseBytes, URLResponse) {
        let exchange = try await SessionExchange(request, self)
        return (ResponseBytes(exchange), exchange.urlResponse)
    }

    /// Returns the response for a GET of a URL and the bytes of its body, like ``bytes(for:)``.
    public func bytes(from url: URL) async throws -> (ResponseBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url))
    }

    /// Writes the body for a request to a new file in the temporary directory.
    ///
    /// The caller moves or removes the file. Only the user may read it. Stored bytes are not copied where the file
    /// system can share blocks (Btrfs, XFS, APFS), and use no memory elsewhere. The file is never a link to the file in
    /// the store.
    ///
    /// - Throws: `URLError`. Leaves no file after an error.
    public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
        let exchange = try await SessionExchange(request, self)
        let name = "CacheStoreDownload-\(UUID().uuidString).tmp"
        let file = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .notDirectory)
        try await exchange.write(to: file, isPrivate: true)
        return (file, exchange.urlResponse)
    }

    /// Writes the body for a GET of a URL to a new file, like ``download(for:)``.
    public func download(from url: URL) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }

    /// Writes the body for a request to `file` if the response is successful (2xx).
    ///
    /// After another status, such as 404 or 304, and after an error, `file` is unchanged. The body of an unsuccessful
    /// response is not read, so the cache may not store the response. The body is written to a hidden file in the same
    /// directory, which then replaces `file`. Otherwise like ``download(for:)``, but with the permissions of any new
    /// file.
    ///
    /// - Throws: `URLError`. `URLError.cannotWriteToFile` for an unwritable file.
    public func download(for request: URLRequest, to file: URL) async throws -> URLResponse {
        let exchange = try await SessionExchange(request, self)
        if exchange.isSuccessful { try await exchange.write(to: file, isPrivate: false) }
        return exchange.urlResponse
    }

    /// Writes the body for a GET of a URL to `file`, like ``download(for:to:)``.
    public func download(from url: URL, to file: URL) async throws -> URLResponse {
        try await download(for: URLRequest(url: url), to: file)
    }
}
