import Foundation
import HTTPCaching
import HTTPTypes
import LoopbackHTTP
import Synchronization

/// An HTTP server for an inspector, on loopback.
///
/// Only this machine can reach the server, and only with the token in its address. The server exchanges the token for a
/// cookie. Each server has a new token and a new path.
///
/// ```swift
/// try await InspectorServer(StoreInspector(store: store)).run { address in
///     print(address)
/// }
/// ```
public struct InspectorServer: Sendable {
    private let inspector: StoreInspector
    private let port: Int
    private let forwardedPort: Int?

    /// Creates a server. ``run(whenReady:)`` starts listening.
    ///
    /// - Parameters:
    ///   - inspector: The page to serve.
    ///   - port: The port on 127.0.0.1. By default 0: the system chooses a free port. With the same port, browsers keep
    ///     the theme and the saved queries.
    ///   - forwardedPort: The port of your machine, if `ssh -L` forwards a different one to this server. The address
    ///     has that port.
    public init(_ inspector: StoreInspector, port: Int = 0, forwardedPort: Int? = nil) {
        self.inspector = inspector
        self.port = port
        self.forwardedPort = forwardedPort
    }

    /// Serves until the calling task is cancelled.
    ///
    /// - Parameter whenReady: Receives the address of the page with its token, once the server listens.
    /// - Throws: An error while listening, for example for a port in use.
    public func run(whenReady: @escaping @Sendable (_ address: String) async -> Void) async throws {
        try await run(timeout: .seconds(60), whenReady: whenReady)
    }

    /// - Parameter timeout: The most time for a client to send a request, or to receive a piece of a response.
    package func run(
        timeout: Duration, whenReady: @escaping @Sendable (_ address: String) async -> Void
    ) async throws {
        // The port that the system chose.
        let actualPort = Atomic(0)
        let login = AccessGuard.Login(
            forwardedPort: forwardedPort, port: { actualPort.load(ordering: .acquiring) })
        let exchange = InspectorExchange(
            inspector: inspector, access: AccessGuard(login: login), path: login.path)
        var configuration = LoopbackServer.Configuration(contentLimit: StoreInspector.contentLimit)
        configuration.connectionLimit = 128
        configuration.timeout = timeout
        configuration.answersMalformedRequests = true
        let server = try await LoopbackServer(host: "127.0.0.1", port: port, configuration: configuration) { request in
            { connection in await exchange.run(request, on: connection) }
        }
        actualPort.store(server.port, ordering: .releasing)
        await whenReady("http://127.0.0.1:\(forwardedPort ?? server.port)\(login.path)?token=\(login.token)")
        await server.run()
    }
}

/// Sends the responses of an inspector.
private struct InspectorExchange: Sendable {
    private struct TooLarge: Error {}

    let inspector: StoreInspector
    let access: AccessGuard
    /// The secret path of the page, with a slash at both ends.
    let path: String

    func run(_ request: ServerRequest, on connection: ServerConnection) async {
        let response = await response(to: request)
        let length = response.contentLength
        var fields = response.fields
        fields[.date] = "\(HTTPDate(Date()))"
        if !response.status.hasNoContent { fields[.contentLength] = length.map { "\($0)" } }
        // A response without length ends with its connection (RFC 9112 §6.3).
        let closes = !request.keepsAlive || length == nil
        if closes { fields[.connection] = "close" }
        do {
            try await connection.send(ResponseHead.bytes(response.status, fields))
            if request.method != .head { try await response.writeContent { try await connection.send($0) } }
            if closes { try await connection.close() }
        } catch {
            // Also ignores an error of the store: the client notices the missing bytes.
            try? await connection.close()
        }
    }

    private func response(to request: ServerRequest) async -> InspectorResponse {
        let whole = request.target.prefix { $0 != "?" }
        // Without the path, a client cannot detect the inspector.
        guard whole.hasPrefix(path) || whole == path.dropLast() else {
            return InspectorResponse(status: .notFound, type: "text/plain", .bytes([]))
        }
        let head = HTTPRequest(
            method: request.method, scheme: "http", authority: request.fields[named: "Host"], path: request.target,
            headerFields: request.fields)
        return await inspector.respond(
            to: head, path: String(whole.dropFirst(path.count)), access: access
        ) { _ in
            if request.isTooLarge { throw TooLarge() }
            return request.content
        }
    }
}
