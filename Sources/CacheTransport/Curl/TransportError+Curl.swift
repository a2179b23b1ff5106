#if Curl && !canImport(Darwin)
internal import CCurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension TransportError {
    /// Translates an error of libcurl and its perhaps empty `text`. `proxyStatus` is the status of the proxy's answer
    /// to CONNECT, and `systemError` the `errno` of a failed connection. 0 means none.
    init?(_ code: CURLcode, text: String, hasHead: Bool, proxyStatus: Int = 0, systemError: Int = 0) {
        guard code != CURLE_OK else { return nil }
        if proxyStatus >= 300 {
            self.init(.cannotConnect, message: "the proxy refuses the connection with the status \(proxyStatus)")
            return
        }
        let kind = Self.code(code, hasHead: hasHead)
        if kind == .cannotConnect, systemError != 0 {
            self.init(kind, message: String(cString: strerror(Int32(systemError))))
        } else {
            self.init(kind, message: Self.reason(kind, code, text))
        }
    }

    private static func code(_ code: CURLcode, hasHead: Bool) -> Code {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotFindHost
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .cannotConnect
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_URL_MALFORMAT: .unsupportedRequest
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_USE_SSL_FAILED:
            .insecure
        case CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: .other
        // After the head each other failure leaves a body that is not complete.
        case _ where hasHead: .truncated
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND,
            CURLE_ABORTED_BY_CALLBACK:
            .connectionLost
        // The scheme is http or https: libcurl means the version or the status of the response.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_HTTP3, tooLarge, CURLE_OUT_OF_MEMORY:
            .malformedResponse
        default: .other
        }
    }

    /// `CURLE_TOO_LARGE`, an error of libcurl 8.6: a head of more than 300 KiB.
    private static var tooLarge: CURLcode { CURLcode(rawValue: 100) }

    /// Returns the reason for a person, with the words of libcurl where they say more.
    private static func reason(_ kind: Code, _ code: CURLcode, _ text: String) -> String {
        let words = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        switch kind {
        case .cannotFindHost:
            return words.split(separator: ": ").last.map { "there is no host \($0)" } ?? words
        case .insecure: return "\(reasonOfTLS(code, words)) (\(words))"
        case .timedOut: return "no connection in time"
        case .connectionLost: return "the connection was closed before the end of the response"
        case .truncated where code == CURLE_PARTIAL_FILE: return "the body is shorter than its declared length"
        case .malformedResponse where code == tooLarge || code == CURLE_OUT_OF_MEMORY:
            // Versions before 8.6 report a long line as a lack of memory.
            return "the response is not valid HTTP: its head, or a line of it, is too long"
        case .malformedResponse: return "the response is not valid HTTP: \(words)"
        default: return words
        }
    }

    private static func reasonOfTLS(_ code: CURLcode, _ words: String) -> String {
        guard code == CURLE_PEER_FAILED_VERIFICATION else {
            return code == CURLE_SSL_CACERT_BADFILE
                ? "the root certificates cannot be used" : "the TLS handshake failed"
        }
        if words.contains("expired") { return "the certificate of the server has expired" }
        if words.contains("subject name") || words.contains("does not match") {
            return "the certificate of the server is for other hosts"
        }
        return "the certificate of the server is not trusted"
    }
}
#endif
