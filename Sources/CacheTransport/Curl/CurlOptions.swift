#if Curl && !canImport(Darwin)
internal import CCurl
internal import CacheFoundation

/// The settings of a transport in the terms of libcurl. Belongs to the thread of a loop.
final class CurlSettings {
    let connectMilliseconds: Int
    let keepAliveSeconds: Int
    let version: Int
    let connectionsPerHost: Int
    /// The root certificates of the system and the additional ones in PEM; empty without additional ones.
    let roots: UnsafeMutableRawBufferPointer

    init(_ configuration: CurlTransport.Configuration) {
        connectMilliseconds = configuration.connectTimeout.milliseconds
        keepAliveSeconds = max(configuration.keepAliveTimeout.milliseconds / 1000, 1)
        version = configuration.allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        connectionsPerHost = configuration.connectionsPerHost
        // These certificates replace the roots of the system in libcurl, so include the roots of the system first.
        var roots = Data()
        if let additional = configuration.additionalTrustRoots {
            roots = Self.systemRoots() + Data("\n".utf8) + additional.pem
        }
        self.roots = .allocate(byteCount: roots.count, alignment: 1)
        self.roots.copyBytes(from: roots)
    }

    deinit {
        roots.deallocate()
    }

    private static func systemRoots() -> Data {
        guard let handle = curl_easy_init() else { return Data() }
        defer { curl_easy_cleanup(handle) }
        // If libcurl does not report a path: the files of Debian and Ubuntu, of Fedora, of openSUSE, and of Alpine.
        let known = [
            ccurl_system_roots(handle).map { String(cString: $0) }, "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        ]
        for case let path? in known {
            if let roots = try? Data(contentsOf: URL(filePath: path)) { return roots }
        }
        return Data()
    }
}

/// Sets the options of a handle, and keeps the first error.
final class CurlOptions {
    private(set) var result = CURLE_OK
    private let handle: UnsafeMutableRawPointer

    init(_ handle: UnsafeMutableRawPointer) {
        self.handle = handle
    }

    func check(_ code: CURLcode) {
        if result == CURLE_OK { result = code }
    }

    func set(_ option: CURLoption, _ value: Int) { check(ccurl_set_long(handle, option, value)) }
    func set(_ option: CURLoption, _ value: String?) { check(ccurl_set_text(handle, option, value)) }
    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) { check(ccurl_set_pointer(handle, option, value)) }
    func set(_ option: CURLoption, _ value: UnsafeMutablePointer<curl_slist>?) {
        check(ccurl_set_list(handle, option, value))
    }

    /// Sets the request: where it goes, and its head and content.
    func set(_ request: CurlRequest) {
        check(ccurl_allow_http(handle))
        set(CURLOPT_URL, request.origin)
        set(CURLOPT_REQUEST_TARGET, request.target)
        if request.method == .head { set(CURLOPT_NOBODY, 1) }
        if let length = request.contentLength {
            set(CURLOPT_UPLOAD, 1)
            check(ccurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(length)))
        }
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }

    /// Sets the connection. Redirects, cookies, netrc, decoding and caching are off by default.
    func set(_ settings: CurlSettings, _ request: CurlRequest) {
        // Timeouts by signal would stop other threads.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, settings.connectMilliseconds)
        set(CURLOPT_MAXAGE_CONN, settings.keepAliveSeconds)
        set(CURLOPT_HTTP_VERSION, settings.version)
        // The first TLS connection shows whether other requests can share it. Without TLS they would wait for the first
        // response.
        if settings.version != CURL_HTTP_VERSION_1_1, request.isSecure { set(CURLOPT_PIPEWAIT, 1) }
        // The curl tool uses the same size. The default of 16 KiB costs a fifth of the throughput.
        set(CURLOPT_BUFFERSIZE, 65_536)
        set(CURLOPT_UPLOAD_BUFFERSIZE, 65_536)
        // An empty text keeps libcurl from reading the environment.
        set(CURLOPT_PROXY, request.proxy?.url ?? "")
        set(CURLOPT_NOPROXY, "")
        if let credentials = request.proxy?.credentials {
            set(CURLOPT_PROXYUSERNAME, credentials.user)
            set(CURLOPT_PROXYPASSWORD, credentials.password)
        }
        // The head of a proxy's answer to CONNECT is not part of the response.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if !request.checksCertificate {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let roots = settings.roots.baseAddress, settings.roots.count > 0 {
            check(ccurl_set_blob(handle, CURLOPT_CAINFO_BLOB, roots, settings.roots.count))
        }
    }
}

extension Duration {
    /// At least 1, and at most a century, so that a practically infinite timeout does not overflow.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(min(max(seconds, 0), 3_155_760_000)) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
#endif
