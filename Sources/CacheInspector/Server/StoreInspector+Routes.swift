#if Inspector
import CacheStore
import HTTPTypes
public import Hummingbird
import NIOCore

extension StoreInspector {
    /// Adds the page and its data to a server, at the path of a group.
    ///
    /// The page shows the bodies of the store and its recorded URLs to every user of the group: put your authentication
    /// before it. The inspector checks that requests come from its own page, with `Origin`, `Sec-Fetch-Site` and a token
    /// for each change. It trusts your server with the check of hosts and users.
    ///
    /// ```swift
    /// let admin = router.group("admin/cache").add(middleware: AdministratorsOnly())
    /// StoreInspector(store: store).addRoutes(to: admin)
    /// ```
    ///
    /// - Parameter routes: A group, or a router.
    public func addRoutes<Routes: RouterMethods>(to routes: Routes) {
        addRoutes(to: routes, guardedBy: AccessGuard(login: nil))
    }

    func addRoutes<Routes: RouterMethods>(to routes: Routes, guardedBy access: AccessGuard) {
        for method in [HTTPRequest.Method.get, .post] {
            for path in ["", "**"] as [RouterPath] {
                routes.on(path, method: method) { request, context in
                    await respond(to: request, path: context.parameters.getCatchAll(), access)
                }
            }
        }
    }

    /// The most bytes of a POST.
    private static let maxContent = 1 << 20

    private func respond(to request: Request, path: [Substring], _ access: AccessGuard) async -> Response {
        let answer: InspectorAnswer
        do throws(InspectorFailure) {
            var inspected = try InspectorRequest(
                request.method, path.joined(separator: "/"), query: request.uri.query ?? "", fields: request.headers)
            switch access.verdict(on: request.head, inspected) {
            case .refused(let failure): throw failure
            case .loggedIn(let cookie):
                return .redirect("./", .seeOther, adding: [.setCookie: cookie])
            case .allowed: break
            }
            // The page's own addresses are relative to a path with a slash at its end.
            if path.isEmpty, request.method == .get, !request.uri.path.hasSuffix("/") {
                return .redirect("./\(request.uri.path.split(separator: "/").last ?? "")/", .temporaryRedirect)
            }
            if request.method == .post { inspected.content = try await Self.content(of: request) }
            answer = await self.answer(inspected, csrfToken: access.csrfToken)
        } catch {
            answer = InspectorAnswer(error)
        }
        return Response(answer, to: request)
    }

    private static func content(of request: Request) async throws(InspectorFailure) -> [UInt8] {
        do {
            return Array(buffer: try await request.body.collect(upTo: maxContent))
        } catch {
            throw InspectorFailure(.contentTooLarge, "too_large", "the content has more than \(maxContent) bytes")
        }
    }
}

extension HTTPFields {
    /// The fields of every response: nothing is guessed, framed, kept or told to other sites.
    fileprivate static let protecting = {
        var fields: HTTPFields = [
            .xContentTypeOptions: "nosniff",
            .cacheControl: "no-store",
            .contentSecurityPolicy: "sandbox; default-src 'none'; frame-ancestors 'none'",
        ]
        fields[named: "Referrer-Policy"] = "no-referrer"
        fields[named: "Cross-Origin-Resource-Policy"] = "same-origin"
        fields[named: "Cross-Origin-Opener-Policy"] = "same-origin"
        return fields
    }()
}

extension Response {
    fileprivate static func redirect(
        _ location: String, _ status: HTTPResponse.Status, adding others: HTTPFields = [:]
    ) -> Response {
        var fields = HTTPFields.protecting
        fields[.location] = location
        for field in others { fields.append(field) }
        return Response(status: status, headers: fields)
    }

    fileprivate init(_ answer: InspectorAnswer, to request: Request) {
        var fields = HTTPFields.protecting
        for field in answer.fields { fields[field.name] = field.value }
        let body: ResponseBody
        switch answer.content {
        case .bytes(let bytes): body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        case .body(let stored, let count): body = ResponseBody(stored, count: count)
        case .live(let feed):
            body = ResponseBody { writer in
                // `nonisolated(unsafe)`: this closure alone has the writer, and waits for the feed, which writes one event
                // after the other.
                nonisolated(unsafe) var events = writer
                // Ends the feed as soon as the client is gone.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await feed.run { try await events.write(ByteBuffer(bytes: $0)) }
                }
                try await events.finish(nil)
            }
        }
        self.init(status: answer.status, headers: fields, body: body)
    }
}

extension ResponseBody {
    /// The bytes of one read of a file.
    private static let chunkLength: Int64 = 262_144

    fileprivate init(_ stored: StoredBody, count: Int64) {
        self.init(contentLength: Int(count)) { writer in
            var offset: Int64 = 0
            while offset < count {
                let length = Int(min(Self.chunkLength, count - offset))
                try await writer.write(ByteBuffer(bytes: try stored.bytes(at: offset, count: length)))
                offset += Int64(length)
            }
            try await writer.finish(nil)
        }
    }
}
#endif
