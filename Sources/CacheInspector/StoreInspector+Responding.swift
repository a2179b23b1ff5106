public import HTTPTypes

extension StoreInspector {
    /// The most bytes of a POST.
    static let contentLimit = 1 << 20

    /// Answers a request that your server has received.
    ///
    /// The page shows the stored bodies and the recorded URLs to every user: authenticate users before this call. The
    /// inspector checks that requests come from its own page, with `Origin`, `Sec-Fetch-Site` and a token for each
    /// change. Your server must check hosts and users.
    ///
    /// Route GET and POST of all paths below one path to this call. The product `HummingbirdInspector` of the package
    /// Integrations does so for Hummingbird.
    ///
    /// - Parameters:
    ///   - request: The head of the request, with `authority`, and with the whole request target in `path`.
    ///   - path: The part of the request path below the path of the page, without a leading slash and without the
    ///     query: `api/entries`, or empty for the page itself.
    ///   - content: Reads the content of a request that has passed the checks. Throws if the content has more bytes
    ///     than the limit.
    public func respond(
        to request: HTTPRequest, path: String, content: (_ limit: Int) async throws -> [UInt8]
    ) async -> InspectorResponse {
        await respond(to: request, path: path, access: state.access, content: content)
    }

    func respond(
        to request: HTTPRequest, path: String, access: AccessGuard, content: (_ limit: Int) async throws -> [UInt8]
    ) async -> InspectorResponse {
        var response: InspectorResponse
        do {
            response = try await respondUnprotected(to: request, path: path, access: access, content: content)
        } catch {
            let failure = InspectorFailure(error)
            let isPage = path.isEmpty && request.method == .get
            response =
                isPage ? InspectorResponse(page: failure, port: access.login?.port()) : InspectorResponse(failure)
        }
        for field in HTTPFields.protecting where response.fields[field.name] == nil { response.fields.append(field) }
        return response
    }

    private func respondUnprotected(
        to head: HTTPRequest, path: String, access: AccessGuard, content: (_ limit: Int) async throws -> [UInt8]
    ) async throws -> InspectorResponse {
        let target = (head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var request = try InspectorRequest(
            head.method, path, query: target.count > 1 ? String(target[1]) : "", fields: head.headerFields)
        if let cookie = try access.check(head, request) {
            var response = InspectorResponse.redirect("./", .seeOther)
            response.fields[.setCookie] = cookie
            return response
        }
        // The page uses relative addresses, which need a slash at the end of its path.
        if path.isEmpty, head.method == .get, let whole = target.first, whole.last != "/" {
            return .redirect("./\(whole.split(separator: "/").last ?? "")/", .temporaryRedirect)
        }
        if head.method == .post {
            do {
                request.content = try await content(Self.contentLimit)
            } catch {
                throw InspectorFailure(
                    .contentTooLarge, "too_large", "the content has more than \(Self.contentLimit) bytes")
            }
        }
        return try await answer(request, csrfToken: access.csrfToken)
    }
}

extension HTTPFields {
    /// The fields of every response. They forbid MIME sniffing, framing, caching and referrers.
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
