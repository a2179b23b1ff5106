public import CacheFoundation
public import CacheLoader
internal import Synchronization

/// A reply in the script of a ``ScriptedTransport``: a response or an error.
///
/// ```swift
/// .reply(200, [.cacheControl: "max-age=60"], "hello, ", "world")
/// .failure(.cannotConnect)
/// .reply(200, [:], "hello, world").broken(afterBytes: 5)
/// .reply(200, [:], "late").delayed(by: .seconds(10), on: clock)
/// .reply(200, [:], "page").preceded(by: 103)
/// ```
public struct ScriptedReply: Sendable {
    private enum Outcome: Sendable {
        case response(HTTPResponse, [Data], failure: TransportError?)
        case failure(TransportError)
    }

    private typealias Pause = @Sendable () async throws(TransportError) -> Void

    private var outcome: Outcome
    private var interimResponses: [HTTPResponse] = []
    private var pauseBeforeHead: Pause?
    private var pauseBeforeChunk: Pause?

    private init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    /// Returns a response whose body arrives as `chunks`.
    public static func reply(
        _ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:], _ chunks: String...
    ) -> ScriptedReply {
        ScriptedReply(
            .response(
                HTTPResponse(status: status, headerFields: fields), chunks.map { Data($0.utf8) }, failure: nil))
    }

    /// Returns a response whose body is `data`, in one chunk.
    public static func reply(
        _ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:], body data: Data
    ) -> ScriptedReply {
        ScriptedReply(.response(HTTPResponse(status: status, headerFields: fields), [data], failure: nil))
    }

    /// Returns an error instead of a response.
    public static func failure(_ code: TransportError.Code, message: String = "") -> ScriptedReply {
        ScriptedReply(.failure(TransportError(code, message: message)))
    }

    /// Returns the reply with a body that breaks off after `count` bytes.
    ///
    /// `Content-Length` announces the whole body, unless the reply already has that field.
    ///
    /// - Parameters:
    ///   - count: The number of bytes that arrive, at most those of the body.
    ///   - code: The error that ends the body, such as `TransportError.Code.truncated`.
    public func broken(afterBytes count: Int, with code: TransportError.Code = .connectionLost) -> ScriptedReply {
        guard case .response(var head, let chunks, _) = outcome else { return self }
        let byteCount = chunks.reduce(0) { $0 + $1.count }
        precondition((0...byteCount).contains(count), "the body has \(byteCount) bytes")
        if head.headerFields[.contentLength] == nil { head.headerFields[.contentLength] = "\(byteCount)" }
        var rest = count
        let arriving = chunks.map { chunk in
            defer { rest -= min(rest, chunk.count) }
            return chunk.prefix(rest)
        }
        var reply = self
        reply.outcome = .response(head, arriving, failure: TransportError(code))
        return reply
    }

    /// Returns the reply with another interim response (RFC 9110 §15.2), before its head or error, and before the pause
    /// of ``delayed(by:on:)``.
    ///
    /// - Parameters:
    ///   - status: A status from 100 to 199, except 101, which is a final response.
    ///   - fields: The fields of that interim response.
    public func preceded(by status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> ScriptedReply {
        precondition(status.kind == .informational && status != .switchingProtocols, "\(status) is a final response")
        var reply = self
        reply.interimResponses.append(HTTPResponse(status: status, headerFields: fields))
        return reply
    }

    /// Returns the reply with a pause before its head or error. The pause ends when the clock has advanced by
    /// `duration`.
    public func delayed(by duration: Duration, on clock: ManualClock) -> ScriptedReply {
        var reply = self
        reply.pauseBeforeHead = { () async throws(TransportError) in try await clock.pause(duration) }
        return reply
    }

    /// Returns the reply with a pause before each chunk of its body. A pause ends when the clock has advanced by
    /// `duration`.
    public func paced(by duration: Duration, on clock: ManualClock) -> ScriptedReply {
        var reply = self
        reply.pauseBeforeChunk = { () async throws(TransportError) in try await clock.pause(duration) }
        return reply
    }

    /// Returns the response after its interim responses and the pause. The answer to HEAD has no body.
    func response(
        to method: HTTPRequest.Method, onInterimResponse: (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        for response in interimResponses { onInterimResponse(response) }
        try await pauseBeforeHead?()
        switch outcome {
        case .failure(let error): throw error
        case .response(let head, let chunks, let failure):
            guard method != .head else { return TransportResponse(head: head, body: TransportBody(Data())) }
            let body = TransportBody(chunks: chunks, failure: failure)
            guard let pauseBeforeChunk else { return TransportResponse(head: head, body: body) }
            let paced = TransportBody { () async throws(TransportError) in
                let chunk = try await body.next()
                if chunk != nil { try await pauseBeforeChunk() }
                return chunk
            }
            return TransportResponse(head: head, body: paced)
        }
    }
}

extension ManualClock {
    fileprivate func pause(_ duration: Duration) async throws(TransportError) {
        do {
            try await sleep(duration)
        } catch {
            throw TransportError(.cancelled)
        }
    }
}

extension TransportResponse {
    /// Returns a response whose body arrives as `chunks`, for the function of a ``ScriptedTransport``. With a
    /// `failure`, the body ends with that error after the last chunk.
    public static func reply(
        _ status: HTTPResponse.Status = .ok,
        _ fields: HTTPFields = [:],
        _ chunks: String...,
        failure: TransportError? = nil
    ) -> TransportResponse {
        TransportResponse(
            head: HTTPResponse(status: status, headerFields: fields),
            body: TransportBody(chunks: chunks.map { Data($0.utf8) }, failure: failure))
    }
}

extension TransportBody {
    /// Creates a body that arrives as `chunks`, then ends or throws `failure`. Omits empty chunks.
    package init(chunks: [Data], failure: TransportError? = nil) {
        let remaining = Mutex(chunks.filter { !$0.isEmpty }[...])
        self.init { () async throws(TransportError) -> Data? in
            if let chunk = remaining.withLock({ $0.popFirst() }) { return chunk }
            if let failure { throw failure }
            return nil
        }
    }
}
