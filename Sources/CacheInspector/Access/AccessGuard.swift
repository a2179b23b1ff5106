package import HTTPTypes

/// Decides which requests reach the inspector. Pages of other sites can send requests to a server on loopback, and an
/// attacker's host name can resolve to loopback. So the guard checks the host, the origin and the user's secret of each
/// request, and a second secret of each POST.
package struct AccessGuard: Sendable {
    /// The authentication of the inspector on loopback.
    package struct Login: Sendable {
        /// The secret in the address that the tool prints.
        let token: String
        /// The secret in the cookie.
        let cookie: String
        /// The path of the page, between slashes. Browsers send a cookie to all ports of a host, only below its path.
        let path: String
        /// The port of the server.
        let port: @Sendable () -> Int
        /// The port of another machine from which `ssh -L` forwards connections.
        let forwardedPort: Int?

        package init(
            token: String = Secret.random(), cookie: String = Secret.random(), path: String = "/\(Secret.random())/",
            forwardedPort: Int? = nil, port: @escaping @Sendable () -> Int
        ) {
            self.token = token
            self.cookie = cookie
            self.path = path
            self.forwardedPort = forwardedPort
            self.port = port
        }
    }

    static let cookieName = "cachestore-inspector"

    /// The secret in the field `X-CSRF-Token` of every POST.
    let csrfToken: String
    /// `nil` for an inspector in another server, which checks hosts and users.
    let login: Login?

    package init(login: Login?, csrfToken: String = Secret.random()) {
        self.login = login
        self.csrfToken = csrfToken
    }

    /// Checks a request: `head`, and `request` below the mount. Returns the cookie to set before the redirect to the
    /// page, if the request has the right token; otherwise `nil`. Throws the refusal.
    package func check(
        _ head: HTTPRequest, _ request: InspectorRequest
    ) throws(InspectorFailure) -> String? {
        guard isHostRight(head) else { throw .forbidden("the host is not that of the inspector") }
        guard isOriginRight(head) else { throw .forbidden("the request comes from another site") }
        if let login {
            if request.path.isEmpty, request.method == .get, let token = request.query.text("token") {
                guard Secret.matches(token, login.token) else { throw Self.unauthorized }
                return "\(Self.cookieName)=\(login.cookie); Path=\(login.path); HttpOnly; SameSite=Strict"
            }
            guard Self.cookies(of: head).contains(where: { Secret.matches($0, login.cookie) }) else {
                throw Self.unauthorized
            }
        }
        guard request.method != .get else { return nil }
        guard let token = head.headerFields[named: "X-CSRF-Token"], Secret.matches(token, csrfToken) else {
            throw .forbidden("the field X-CSRF-Token is missing or wrong")
        }
        // A form of another site can send other content types without a CORS preflight.
        let type = head.headerFields[.contentType]?.split(separator: ";").first?.lowercased() ?? ""
        guard type.filter({ $0 != " " }) == "application/json" else {
            throw InspectorFailure(.unsupportedMediaType, "unsupported_type", "the content must be application/json")
        }
        return nil
    }

    private static let unauthorized = InspectorFailure(
        .unauthorized, "unauthorized", "open the address that cachestore serve printed")

    /// A host name of an attacker may resolve to loopback (DNS rebinding). So accepts only the names of loopback.
    private func isHostRight(_ head: HTTPRequest) -> Bool {
        guard let login else { return true }
        // RFC 9112 §3.2.2: a target in absolute form contains another host.
        guard head.path?.hasPrefix("/") == true else { return false }
        return [login.port(), login.forwardedPort].compactMap(\.self).contains { port in
            ["127.0.0.1:\(port)", "localhost:\(port)"].contains(head.authority?.lowercased())
        }
    }

    private func isOriginRight(_ head: HTTPRequest) -> Bool {
        if let site = head.headerFields[named: "Sec-Fetch-Site"], site != "same-origin", site != "none" { return false }
        guard let origin = head.headerFields[.origin] else { return true }
        guard let authority = head.authority?.lowercased() else { return false }
        let schemes = login == nil ? ["http", "https"] : ["http"]
        return schemes.contains { origin.lowercased() == "\($0)://\(authority)" }
    }

    private static func cookies(of head: HTTPRequest) -> [String] {
        head.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ $0 != " " }) == cookieName else { return nil }
            return String(parts[1].filter { $0 != " " })
        }
    }
}
