import TestSupport

@Suite("TopLevelSite") struct TopLevelSiteTests {
    @Test(
        "A site is the scheme with the registrable domain, or with the host", .requirement("N03"),
        arguments: [
            ("https://news.example.co.uk/a?b#c", "https://example.co.uk"),
            ("HTTPS://NEWS.Example.CO.UK:8443/", "https://example.co.uk"),
            ("http://news.example.co.uk", "http://example.co.uk"),
            ("https://co.uk/", "https://co.uk"),
            ("https://localhost:8080/", "https://localhost"),
            ("http://127.0.0.1:81/", "http://127.0.0.1"),
            ("http://[2001:DB8::1]/", "http://[2001:db8::1]"),
            ("data:text/html,x", nil),
            ("/relative", nil),
            ("", nil),
        ] as [(String, String?)])
    func partition(url: String, expected: String?) {
        let site = TopLevelSite(url) { host in
            #expect(host != "127.0.0.1")
            #expect(!host.hasPrefix("["))
            return host.hasSuffix(".co.uk") ? host.split(separator: ".").suffix(3).joined(separator: ".") : nil
        }
        #expect(site?.partition == expected)
    }

    @Test("Without a list of suffixes, each host is a site", .requirement("N03"))
    func hosts() {
        #expect(TopLevelSite("https://a.example.com/")?.partition == "https://a.example.com")
        #expect(TopLevelSite("https://a.example.com/") != TopLevelSite("https://b.example.com/"))
        #expect(TopLevelSite("https://a.example.com/1") == TopLevelSite("https://a.example.com:444/2"))
    }
}
