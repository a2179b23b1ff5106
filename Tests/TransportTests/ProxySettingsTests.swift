import CacheLoader
import Testing

@Suite("ProxySettings") struct ProxySettingsTests {
    private func proxy(_ environment: [String: String], _ scheme: String, _ authority: String = "a.test") throws
        -> String?
    {
        try ProxySettings(environment: environment).proxy(scheme: scheme, authority: authority).map {
            $0.url + ($0.credentials.map { " \($0.user)/\($0.password)" } ?? "")
        }
    }

    @Test(
        "The variable of the scheme takes precedence over that of all schemes, and lower case over upper",
        arguments: [
            ([:], nil, nil), (["http_proxy": "http://p:3128"], "http://p:3128", nil),
            (["HTTP_PROXY": "p:3128"], nil, nil), (["HTTPS_PROXY": "p:3128"], nil, "http://p:3128"),
            (["https_proxy": "p:1", "HTTPS_PROXY": "p:2"], nil, "http://p:1"),
            (["all_proxy": "p", "https_proxy": "q"], "http://p:1080", "http://q:1080"),
            (["ALL_PROXY": "socks5h://p:9"], "socks5h://p:9", "socks5h://p:9"), (["http_proxy": ""], nil, nil),
            (["http_proxy": "http://me:a%20b@p:1/"], "http://p:1 me/a b", nil),
        ] as [([String: String], String?, String?)])
    func schemes(environment: [String: String], http: String?, https: String?) throws {
        #expect(try proxy(environment, "http") == http)
        #expect(try proxy(environment, "https") == https)
    }

    @Test(
        "no_proxy lists hosts, domains and address blocks",
        arguments: [
            ("a.test", "a.test", true), ("a.test", "b.a.test:8080", true), (".a.test", "a.test", true),
            ("a.test", "ba.test", false), ("b.test, a.test", "A.TEST", true), ("b.test a.test", "a.test", true),
            ("*", "x", true),
            ("10.0.0.0/8", "10.1.2.3:80", true), ("10.0.0.0/8", "11.1.2.3", false), ("127.0.0.1", "127.0.0.1:80", true),
            ("::1", "[::1]:80", true), ("0.0.0.0/0", "a.test", false), ("", "a.test", false), (".", "a.test", false),
        ])
    func exceptions(list: String, authority: String, isExcepted: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            #expect((try proxy(["http_proxy": "p", name: list], "http", authority) == nil) == isExcepted)
        }
    }

    @Test(
        "A proxy that the transport cannot use is an error that names the variable",
        arguments: ["ftp://me:secret@p", "http://", "http://me:secret@", "socks6://p"])
    func malformed(text: String) {
        let error = #expect(throws: TransportError.self) { try ProxySettings(environment: ["https_proxy": text]) }
        #expect(error?.code == .unsupportedRequest)
        #expect(error?.message.hasPrefix("https_proxy ") == true)
        #expect(error?.message.contains("secret") == false)
    }
}
