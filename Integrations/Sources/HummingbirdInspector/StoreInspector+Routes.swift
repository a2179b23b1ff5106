public import CacheInspector
internal import HTTPTypes
public import Hummingbird
internal import NIOCore

extension StoreInspector {
    /// Adds the page and its data to a server, at the path of a group.
    ///
    /// The page shows the stored bodies and the recorded URLs to every user of the group: authenticate users before it.
    /// The inspector checks that requests come from its own page, with `Origin`, `Sec-Fetch-Site` and a token for each
    /// change. Your server must check hosts and users.
    ///
    /// ```swift
    /// let admin = router.group("admin/cache").add(middleware: AdministratorsOnly())
    /// StoreInspector(store: store).addRoutes(to: admin)
    /// ```
    ///
    /// - Parameter routes: A group, or a router.
    public func addRoutes<Routes: RouterMethods>(to routes: Routes) {
        for method in [HTTPRequest.Method.get, .post] {
            for path in ["", "**"] as [RouterPath] {
                routes.on(path, method: method) { request, context in
                    let path = context.parameters.getCatchAll().joined(separator: "/")
                    let response = await respond(to: request.head, path: path) { limit in
                        Array(buffer: try await request.body.collect(upTo: limit))
                    }
                    return Response(response, to: request)
                }
            }
        }
    }
}

extension Response {
    fileprivate init(_ response: InspectorResponse, to request: Request) {
        let length = response.contentLength
        let body = ResponseBody(contentLength: length.map { Int($0) }) { writer in
            // `nonisolated(unsafe)`: only this closure uses the writer, and it waits for each piece.
            nonisolated(unsafe) var pieces = writer
            if length == nil {
                // Ends the live requests as soon as the client disconnects.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await response.writeContent { try await pieces.write(ByteBuffer(bytes: $0)) }
                }
            } else {
                try await response.writeContent { try await pieces.write(ByteBuffer(bytes: $0)) }
            }
            try await pieces.finish(nil)
        }
        self.init(status: response.status, headers: response.fields, body: body)
    }
}
