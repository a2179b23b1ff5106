import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin

#if !INTEGRATIONS
import TestSupport
#endif

extension TransportAdapter {
    /// Sends a request to an origin on loopback, and reads the whole response.
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

    /// A response, and the origin that sent it.
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: Result<Data, TransportError>
        let origin: LoopbackOrigin
    }
}

extension TransportBody {
    /// Returns all bytes, or the reason why the body is incomplete.
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
    /// Sends these lines, then closes the connection.
    static func raw(_ lines: String...) -> OriginReply { raw(Array(lines.joined(separator: "\r\n").utf8)) }

    static func raw(_ bytes: [UInt8]) -> OriginReply { OriginReply().delivered(.garbage(bytes)) }
}

/// Returns the error of an exchange, or `nil` for a whole response.
func outcome(_ send: @Sendable () async throws -> TransportResponse) async -> TransportError? {
    do {
        let response = try await send()
        guard case .failure(let error) = await response.body.read() else { return nil }
        return error
    } catch {
        return error as? TransportError ?? TransportError(.other, message: "\(error)")
    }
}
