import ByteText
import CacheStoreTesting
import CacheTier
import Crypto
import Foundation
import HTTPCaching
import HTTPTypes
import TestSupport
import Testing

/// The examples of "Authenticating Requests: Using the Authorization Header" in the S3 API reference.
@Suite("Signature Version 4")
struct SignatureV4Tests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var method = HTTPRequest.Method.get
        let path: String
        var fields: [(String, String)] = []
        var content = ""
        let signature: String
        var testDescription: String { name }
    }

    private static let credentials = S3Credentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

    @Test(
        "the published vectors of AWS for its object store", .requirement("T3"),
        arguments: [
            Case(
                name: "an object with a range", path: "/test.txt", fields: [("range", "bytes=0-9")],
                signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            Case(
                name: "an upload", method: .put, path: "/test%24file.text",
                fields: [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                content: "Welcome to Amazon S3.",
                signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
            Case(
                name: "a query without a value", path: "/?lifecycle",
                signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            Case(
                name: "a query with values", path: "/?max-keys=2&prefix=J",
                signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ])
    func vectors(_ c: Case) throws {
        let hash = SHA256.hash(data: Data(c.content.utf8)).hexadecimal
        var request = HTTPRequest(
            method: c.method, scheme: "https", authority: "examplebucket.s3.amazonaws.com", path: c.path)
        for (name, value) in c.fields + [("x-amz-content-sha256", hash), ("x-amz-date", "20130524T000000Z")] {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let authorization = SignatureV4(credentials: Self.credentials, region: "us-east-1")
            .authorization(for: request, payloadHash: hash, time: "20130524T000000Z")
        #expect(authorization.hasSuffix("Signature=\(c.signature)"))
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"))
    }

    @Test("the time of a signature is the HTTP date in digits", .requirement("T3"))
    func time() {
        #expect(SignatureV4.text(of: .init(secondsSince1970: 1_369_353_600)) == "20130524T000000Z")
    }

    @Test("signs the content type of an object, as AWS requires", .requirement("T3"))
    func contentType() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200) }
        let engine = try TierEngine.s3(
            "https://bucket.example", region: "us-east-1", credentials: { Self.credentials }, transport: transport)
        try? await SharedTier(engine: engine, keys: Machine.keys()).removeAll(in: .partition)
        let request = try #require(transport.requests.first { $0.method == .put })
        #expect(request.headerFields[.contentType] == "application/octet-stream")
        #expect(request.headerFields[.authorization]?.contains("SignedHeaders=content-type;host;") == true)
    }

    @Test("no description of keys or credentials shows a secret", .requirement("T3"))
    func descriptions() throws {
        let secret = Data("0123456789abcdef0123456789abcdef".utf8)
        let credentials = S3Credentials(accessKeyID: "id", secretAccessKey: "geheim", sessionToken: "geheim")
        let key = try TierKey.hmac(id: "k", secret: secret)
        let keys = try TierKeys(names: secret, writing: key)
        let engine = try TierEngine.plain(
            "http://h/", fields: [.authorization: "geheim"], transport: ScriptedTransport())
        let tier = SharedTier(engine: engine, keys: keys)
        let values: [Any] = [
            credentials, key, keys, engine, tier, TieredTransport(tier: tier, origin: ScriptedTransport()),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                // As text, as numbers and in hexadecimal digits.
                for form in ["geheim", "0123456789abcdef", "30313233", "- 48\n"] { #expect(!text.contains(form)) }
            }
        }
    }

    @Test(
        "the signature covers the authority as sent: without the default port", .requirement("T3"),
        arguments: [
            ("https://h:443/b", "h"), ("http://h:80/b", "h"), ("https://h:80/b", "h:80"), ("http://h:443/b", "h:443"),
        ])
    func defaultPort(_ url: String, _ authority: String) async throws {
        let transport = ScriptedTransport()
        let engine = try TierEngine.s3(
            url, region: "r", credentials: { S3Credentials(accessKeyID: "a", secretAccessKey: "b") },
            transport: transport)
        await #expect(throws: TierError.self) { try await SharedTier(engine: engine, keys: Machine.keys()).check() }
        #expect(transport.requests.first?.authority == authority)
    }

    @Test("reads credentials from the environment variables of AWS", .requirement("T3"))
    func environment() {
        #expect(S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "a"]) == nil)
        let all = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"]
        let credentials = S3Credentials(environment: all)
        #expect(credentials?.accessKeyID == "a")
        #expect(credentials?.secretAccessKey == "b")
        #expect(credentials?.sessionToken == "c")
    }

    @Test(
        "an engine needs an http or https URL without user, query and fragment; the error hides all three",
        arguments: [
            ("", ""), ("ftp://h/x", "ftp://h/x"), ("http://", "http://"), ("https://u:p@h/x", "h/x"),
            ("http://h/x?y", "http://h/x"), ("http://h/x#y", "http://h/x"), ("http://h/a b", "http://h/a b"),
            ("http://u:p?q@h/", "h/"),
        ])
    func invalidURL(_ url: String, _ shown: String) {
        #expect(throws: TierError.invalidURL(shown)) { try TierEngine.plain(url, transport: ScriptedTransport()) }
    }

    @Test(
        "a prefix in a bucket has only bytes that no encoding changes",
        arguments: ["a=b", "a+b", "a:b", "(a)", "%20"])
    func prefix(_ prefix: String) throws {
        let url = "https://h/bucket/\(prefix)"
        #expect(throws: TierError.invalidURL(url)) {
            try TierEngine.s3(
                url, region: "r", credentials: { throw TierError.readOnly }, transport: ScriptedTransport())
        }
        _ = try TierEngine.plain(url, transport: ScriptedTransport())
    }
}
