import CacheLoader
import CacheStoreTool
import Testing

@Suite("EnvironmentProxies")
struct EnvironmentProxiesTests {
    private func proxy(_ environment: [String: String], _ scheme: String, _ authority: String = "a.test") throws
        -> String?
    {
        try EnvironmentProxies(environment).proxy(scheme: scheme, authority: authority).map {
            "\($0.kind) \($0.host):\($0.port)" + ($0.credentials.map { " \($0.user)/\($0.password)" } ?? "")
        }
    }

    @Test(
        "The variable of the scheme decides, then that of all schemes; lower case before upper",
        arguments: [
            ([:], nil, nil), (["http_proxy": "http://p:3128"], "http p:3128", nil),
            (["HTTP_PROXY": "p:3128"], nil, nil),
            (["HTTPS_PROXY": "p:3128"], nil, "http p:3128"),
            (["https_proxy": "p:1", "HTTPS_PROXY": "p:2"], nil, "http p:1"),
            (["all_proxy": "p", "https_proxy": "q"], "http p:1080", "http q:1080"),
            (["ALL_PROXY": "socks5h://p:9"], "socks p:9", "socks p:9"), (["http_proxy": ""], nil, nil),
            (["http_proxy": "http://me:a%20b@p:1/"], "http p:1 me/a b", nil),
        ] as [([String: String], String?, String?)])
    func schemes(environment: [String: String], http: String?, https: String?) throws {
        #expect(try proxy(environment, "http") == http)
        #expect(try proxy(environment, "https") == https)
    }

    @Test(
        "no_proxy lists hosts, domains and blocks of addresses",
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
        arguments: ["https://p:1", "ftp://p", "http://", "socks5://me:x@p"])
    func malformed(text: String) {
        #expect(throws: EnvironmentProxies.Malformed.self) { try EnvironmentProxies(["https_proxy": text]) }
    }
}
