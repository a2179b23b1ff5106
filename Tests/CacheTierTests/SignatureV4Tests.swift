import ByteText
import CacheTier
import Crypto
import TestSupport

/// The examples of "Authenticating Requests: Using the Authorization Header" in the S3 API reference.
@Suite("Signature Version 4") struct SignatureV4Tests {
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
    func time() { #expect(SignatureV4.text(of: .init(secondsSince1970: 1_369_353_600)) == "20130524T000000Z") }

    @Test("signs the content type of an object, as AWS requires", .requirement("T3"))
    func contentType() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let transport = ScriptedTransport { _, _ in .reply(200, [.date: date, .lastModified: date]) }
        let engine = try S3Engine(
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
        let engine = try PlainEngine(
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
        let engine = try S3Engine(
            url, region: "r", credentials: { S3Credentials(accessKeyID: "a", secretAccessKey: "b") },
            transport: transport)
        await #expect(throws: TierError.self) { _ = try await SharedTier(engine: engine, keys: Machine.keys()).check() }
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

    @Test("an empty variable counts as absent, as in the SDKs of AWS", .requirement("T3"))
    func emptyVariables() async throws {
        let all = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": ""]
        #expect(S3Credentials(environment: all)?.sessionToken == nil)
        #expect(S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": ""]) == nil)
        let transport = ScriptedTransport()
        let engine = try SharedTier.engine(
            named: "s3+https://h/b", environment: all.merging(["AWS_REGION": ""]) { $1 }, transport: transport)
        try? await SharedTier(engine: engine, keys: Machine.keys()).removeAll(in: .partition)
        let request = try #require(transport.requests.first)
        #expect(request.headerFields[.authorization]?.contains("/us-east-1/s3/") == true)
        #expect(!request.headerFields.contains { $0.name.canonicalName == "x-amz-security-token" })
    }

    @Test("s3://BUCKET is refused with the spelling that works", .requirement("T3"))
    func bucketURL() {
        let error = #expect(throws: TierError.self) {
            try SharedTier.engine(
                named: "s3://bucket/prefix", environment: ["AWS_REGION": "eu-west-1"], transport: ScriptedTransport())
        }
        #expect(error?.description.contains("s3+https://s3.eu-west-1.amazonaws.com/bucket/prefix") == true)
    }

    @Test("the error code of S3 is in the error of the tier", .requirement("T3"))
    func errorCode() async throws {
        let body = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>x</Message></Error>"
        let engine = try S3Engine(
            "https://h/b", region: "r", credentials: { Self.credentials },
            transport: ScriptedTransport { _, _ in .reply(403, [:], body) })
        let tier = SharedTier(engine: engine, keys: try Machine.keys())
        let error = await #expect(throws: TierError.self) { try await tier.removeAll(in: .partition) }
        #expect(error?.description.contains("403 (AccessDenied)") == true, "\(error?.description ?? "")")
    }

    @Test("after 503 SlowDown, the engine gets no request for the time of Retry-After", .requirement("T6"))
    func slowDown() async throws {
        let fields: HTTPFields = [.retryAfter: "20", .date: "Sun, 06 Nov 1994 08:49:37 GMT"]
        let transport = ScriptedTransport { _, _ in .reply(503, fields, "<Code>SlowDown</Code>") }
        let engine = try S3Engine(
            "https://h/b", region: "r", credentials: { Self.credentials }, transport: transport)
        let uptime = Mutex(Duration.zero)
        var configuration = SharedTier.Configuration()
        configuration.deadline = .seconds(100)
        configuration.uptime = { uptime.withLock { $0 } }
        let tier = SharedTier(engine: engine, keys: try Machine.keys(), configuration: configuration)
        let machine = MemoryMachine(
            tier: tier,
            transport: TieredTransport(tier: tier, origin: ScriptedTransport { _, _ in .reply(200, [:], "a") }))
        try await machine.send("/a")
        #expect(tier.isBreakerOpen)
        let requestCount = transport.requests.count
        uptime.withLock { $0 = .seconds(19) }
        try await machine.send("/a")
        #expect(transport.requests.count == requestCount)
        uptime.withLock { $0 = .seconds(21) }
        try await machine.send("/a")
        #expect(transport.requests.count > requestCount)
    }

    @Test("credentials come from the shared file of a profile, and from the container's endpoint", .requirement("T3"))
    func places() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "credentials")
        let text = "[default]\naws_access_key_id = a\n[other]\naws_access_key_id = b\naws_secret_access_key=c\n"
        try Data(text.utf8).write(to: file)
        let path = file.path(percentEncoded: false)
        let fromFile = S3Credentials.standard(
            environment: ["AWS_SHARED_CREDENTIALS_FILE": path, "AWS_PROFILE": "other"], transport: ScriptedTransport())
        #expect(try await fromFile().accessKeyID == "b")
        let json = #"{"AccessKeyId":"d","SecretAccessKey":"e","Token":"f","Expiration":"2999-01-01T00:00:00Z"}"#
        let endpoint = ScriptedTransport { _, _ in .reply(200, [:], json) }
        let variables = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/creds", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "t",
            "HOME": directory.path,
        ]
        let fromContainer = S3Credentials.standard(environment: variables, transport: endpoint)
        for _ in 0..<2 { #expect(try await fromContainer().sessionToken == "f") }
        #expect(endpoint.requests.count == 1)
        #expect(endpoint.requests.first?.headerFields[.authorization] == "t")
        let none = S3Credentials.standard(
            environment: ["AWS_EC2_METADATA_DISABLED": "true", "HOME": directory.path], transport: endpoint)
        await #expect(throws: TierError.self) { _ = try await none() }
    }

    @Test(
        "an engine needs an http or https URL without user, query and fragment; the error hides all three",
        arguments: [
            ("", ""), ("ftp://h/x", "ftp://h/x"), ("http://", "http://"), ("https://u:p@h/x", "h/x"),
            ("http://h/x?y", "http://h/x"), ("http://h/x#y", "http://h/x"), ("http://h/a b", "http://h/a b"),
            ("http://u:p?q@h/", "h/"),
        ])
    func invalidURL(_ url: String, _ shown: String) {
        #expect(throws: TierError.invalidURL(shown)) { try PlainEngine(url, transport: ScriptedTransport()) }
    }

    @Test("a prefix in a bucket has bytes that no encoding changes", arguments: ["a=b", "a+b", "a:b", "(a)", "%20"])
    func prefix(_ prefix: String) throws {
        let url = "https://h/bucket/\(prefix)"
        #expect(throws: TierError.invalidURL(url)) {
            try S3Engine(url, region: "r", credentials: { throw TierError.readOnly }, transport: ScriptedTransport())
        }
        _ = try PlainEngine(url, transport: ScriptedTransport())
    }
}
