import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@Suite("ResourceLoader: credentials")
struct CredentialsTests {
    private func fixture() throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in
            if request.path == "/redirect" { return .reply(302, [.location: "https://other.test/a"]) }
            return .reply(200, [.cacheControl: "max-age=60"], request.headerFields[.authorization] ?? "nobody")
        }
        return (try LoaderFixture(transport: transport), transport)
    }

    @Test("K4: credentials go to the configured origin only, and are not taken along to another")
    func origins() async throws {
        let (fixture, transport) = try fixture()
        let user = Credentials.basic(user: "Aladdin", password: "open sesame")
        try fixture.loader.configuration.setCredentials(user, forOrigin: "HTTPS://Example.com:443/whatever")
        let expected = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        #expect(try await fixture.loader.load("https://example.com/a").text == expected)
        for url in [
            "http://example.com/a", "https://example.com:8443/a", "https://other.test/a", "https://sub.example.com/a",
            "https://example.com/redirect",
        ] {
            #expect(try await fixture.loader.load(url).text == "nobody", "\(url)")
        }
        #expect(
            transport.requests.filter { $0.headerFields[.authorization] == expected }.map(\.path) == [
                "/a", "/redirect",
            ])
        let own = ResourceRequest("https://example.com/b", headerFields: [.authorization: "Bearer own"])
        #expect(try await fixture.loader.load(own).text == "Bearer own")
        #expect("\(user) \(String(reflecting: user))".contains("sesame") == false)
    }

    @Test("K4: what was fetched with different credentials never mixes, in memory neither; nil clears")
    func users() async throws {
        let (fixture, transport) = try fixture()
        fixture.loader.configuration.memoryLimit = 1 << 20
        let url = "https://example.com/a"
        for token in ["one", "two", nil, "one"] {
            try fixture.loader.configuration.setCredentials(
                token.map { .bearer(token: $0) }, forOrigin: "https://example.com")
            for _ in 0..<3 {
                #expect(try await fixture.loader.load(url).text == (token.map { "Bearer \($0)" } ?? "nobody"))
            }
        }
        #expect(transport.requestCount <= 4)
        #expect(throws: LoadError.self) {
            try fixture.loader.configuration.setCredentials(nil, forOrigin: "ftp://example.com")
        }
    }
}
