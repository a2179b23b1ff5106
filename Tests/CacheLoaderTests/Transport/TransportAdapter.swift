import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport

/// The transport of this system. The suites of this folder are run against it.
enum TransportAdapter: String, CaseIterable, Sendable {
    #if canImport(Darwin)
    case urlSession = "URLSession"
    #else
    case curl
    #endif

    func make(idleTimeout seconds: Int = 600) -> any HTTPTransport {
        DefaultTransport.patient(idleTimeout: seconds)
    }

    /// Asks a real origin, and reads the answer to its end.
    func exchange(
        _ reply: OriginReply, method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        content: RequestContent? = nil, idleTimeout: Int = 600
    ) async throws -> Answer {
        let origin = try await LoopbackOrigin { _ in reply }
        let transport = make(idleTimeout: idleTimeout)
        let request = HTTPRequest.to(origin, method: method, path: "/path?query", fields: fields)
        let response = try await transport.send(transport.prepare(request), content: content)
        return Answer(head: response.head, body: await response.body.read(), origin: origin)
    }

    /// What came of a request.
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: Result<Data, TransportError>
        let origin: LoopbackOrigin
    }
}

extension DefaultTransport {
    /// A transport that waits as long as a busy machine may need.
    static func patient(idleTimeout seconds: Int = 600) -> DefaultTransport {
        var configuration = Configuration()
        configuration.idleTimeout = .seconds(seconds)
        return DefaultTransport(configuration: configuration)
    }
}

extension TransportBody {
    /// All of it, or why it is not whole.
    func read() async -> Result<Data, TransportError> {
        var bytes = Data()
        do throws(TransportError) {
            while let chunk = try await next() { bytes += chunk }
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }
}

extension HTTPRequest {
    static func to(
        _ origin: LoopbackOrigin, method: Method = .get, path: String = "/", fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: origin.authority, path: path, headerFields: fields)
    }
}

extension OriginReply {
    /// Exactly these bytes, then the end of the connection.
    static func raw(_ lines: String...) -> OriginReply {
        raw(Array(lines.joined(separator: "\r\n").utf8))
    }

    static func raw(_ bytes: [UInt8]) -> OriginReply {
        OriginReply().delivered(.garbage(bytes))
    }
}

/// How a request went whose outcome is all that counts.
func outcome(_ send: @Sendable () async throws -> TransportResponse) async -> TransportError? {
    do {
        let response = try await send()
        guard case .failure(let error) = await response.body.read() else { return nil }
        return error
    } catch {
        return error as? TransportError ?? TransportError(.other, message: "\(error)")
    }
}
