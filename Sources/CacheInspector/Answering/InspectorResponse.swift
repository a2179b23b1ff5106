import CacheLoader
import CacheReports
package import CacheStore
public import HTTPTypes

/// The response of the inspector to a request, to be sent by your server.
public struct InspectorResponse: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// The first bytes of a stored body.
        case body(StoredBody, count: Int64)
        case live(LiveFeed)
    }

    /// The status.
    public var status: HTTPResponse.Status
    /// The header fields, without `Content-Length`.
    public var fields: HTTPFields
    package var content: Content

    init(status: HTTPResponse.Status = .ok, type: String, _ content: Content) {
        self.status = status
        self.content = content
        fields = [.contentType: type]
    }

    /// Redirects to a path relative to that of the request.
    static func redirect(_ location: String, _ status: HTTPResponse.Status) -> Self {
        var response = Self(status: status, type: "text/plain", .bytes([]))
        response.fields = [.location: location]
        return response
    }

    static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Self {
        Self(status: status, type: "application/json", .bytes(value.bytes(.page)))
    }

    package init(_ failure: InspectorFailure) {
        self = .json(
            ["error": ["code": .text(failure.code), "message": .text(failure.message)]], status: failure.status)
    }

    /// A page for a person whose browser gets no access. `port` is that of the server on loopback.
    init(page failure: InspectorFailure, port: Int?) {
        let advice = port.map { port in
            """
            <p>Open the address that <code>cachestore serve</code> printed. Its token is valid for that run only.</p>
            <p>If the store is on another machine, forward the port first, and open the address on yours:</p>
            <pre>ssh -L \(port):127.0.0.1:\(port) user@machine</pre>
            <p>If you forward another port of yours, start the inspector with
            <code>cachestore serve --forwarded-port NUMBER</code>.</p>
            """
        }
        // The message may quote the request.
        let message = failure.message.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        let page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Cache inspector</title>
            <main>
            <h1>Cache inspector: no access</h1>
            <p>The inspector refused this request: \(message).</p>
            \(advice ?? "")
            </main>
            """
        self.init(status: failure.status, type: "text/html; charset=utf-8", .bytes(Array(page.utf8)))
    }
}

extension InspectorResponse {
    /// The bytes per read of a file.
    private static let chunkLength: Int64 = 262_144

    /// The length of the content in bytes. `nil` for live requests, whose content is endless.
    public var contentLength: Int64? {
        switch content {
        case .bytes(let bytes): Int64(bytes.count)
        case .body(_, let count): count
        case .live: nil
        }
    }

    /// Writes the content piece by piece.
    ///
    /// Live requests end with an error of `write` or the cancellation of the task: cancel it when the client
    /// disconnects.
    ///
    /// - Parameter write: Sends a piece. Returns when the connection can take the next piece.
    /// - Throws: An error of `write`, of reading the store, or `CancellationError`.
    public func writeContent(to write: ([UInt8]) async throws -> Void) async throws {
        switch content {
        case .bytes(let bytes):
            if !bytes.isEmpty { try await write(bytes) }
        case .body(let stored, let count):
            var offset: Int64 = 0
            while offset < count {
                let length = Int(min(Self.chunkLength, count - offset))
                try await write(Array(stored.bytes(at: offset, count: length)))
                offset += Int64(length)
            }
        case .live(let feed):
            try await feed.run(write: write)
        }
    }
}

/// A refused request.
package struct InspectorFailure: Error, Hashable {
    package let status: HTTPResponse.Status
    let code: String
    let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static func invalid(_ message: String) -> Self { Self(.badRequest, "invalid", message) }
    static func notFound(_ message: String) -> Self { Self(.notFound, "not_found", message) }
    static func forbidden(_ message: String) -> Self { Self(.forbidden, "forbidden", message) }
    static func busy(_ message: String) -> Self { Self(.serviceUnavailable, "busy", message) }

    /// Describes an error that occurred while answering.
    package init(_ error: any Error) {
        switch error {
        case let failure as InspectorFailure: self = failure
        case let error as StoreError: self.init(error)
        case LoadError.store(let error): self.init(error)
        default: self.init(.internalServerError, "store", "\(error)")
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .queryTimedOut: self.init(.requestTimeout, "timed_out", "\(error)")
        case .busy: self.init(.serviceUnavailable, "busy", "\(error)")
        case .readOnly: self.init(.forbidden, "changes_not_allowed", "\(error)")
        case .invalidKey: self.init(.badRequest, "invalid", "\(error)")
        default: self.init(.internalServerError, "store", "\(error)")
        }
    }
}
