import TestSupport

extension ToolTests {
    @Suite("get", .serialized)
    struct Get {
        let tool: Tool
        let origin: LoopbackOrigin

        init() async throws {
            tool = try Tool()
            origin = try await LoopbackOrigin { request in
                switch request.path.prefix(while: { $0 != "?" }) {
                case "/fresh":
                    .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=3600")
                case "/stale": .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=0")
                case "/plain": .ok("hello".utf8)
                case "/large": .ok(repeatElement(UInt8(ascii: "x"), count: 3_000_000), cacheControl: "max-age=60")
                case "/echo": .ok((request.fields[.from] ?? "-").utf8)
                case "/moved": .status(.movedPermanently, fields: [.location: "/fresh"])
                case "/failing": .status(.internalServerError)
                default: .status(.notFound)
                }
            }
        }

        private let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

        @Test("-v prints source, status, size, digest, age, expiry and URL in one line", .requirement("I2"))
        func provenance() async throws {
            let url = origin.url("/fresh")
            for (source, policy) in [
                ("network", "http"), ("disk", "http"), ("disk", "cache-only"), ("notModified", "revalidate"),
            ] {
                let output = try await tool("get", url, "-v", "--policy", policy)
                #expect(output.exitCode == 0)
                #expect(output.text == "hello")
                let line = output.errorText
                #expect(line.hasPrefix("source=\(source) status=200 bytes=5 sha256=\(digest) age="))
                #expect(line.hasSuffix("Z url=\(url)\n"))
                let rest = try #require(line.firstMatch(of: /age=\d+ expires=(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ) url=/))
                let expiry = try Date(String(rest.1), strategy: .iso8601)
                #expect((3000...3601).contains(expiry.timeIntervalSinceNow))
            }
            #expect(origin.requestCount == 2)
        }

        @Test("A response without a lifetime has no expiry")
        func noExpiry() async throws {
            let output = try await tool("get", origin.url("/plain"), "--verbose")
            #expect(output.errorText.contains(" expires=- url="))
        }

        @Test("Prints nothing without -v")
        func silence() async throws { try await tool("get", origin.url("/fresh")).expect(0, error: nil) }

        @Test(
            "A policy decides about a stale response",
            arguments: [
                ("http", 1, "notModified"), ("cache-first", 0, "disk"), ("cache-only", 0, "disk"),
                ("revalidate", 1, "notModified"), ("remote-only", 1, "network"),
            ])
        func policies(policy: String, requests: Int, source: String) async throws {
            _ = try await tool("get", origin.url("/stale"))
            origin.resetRequests()
            let output = try await tool("get", origin.url("/stale"), "--policy", policy, "-v")
            #expect(output.text == "hello")
            #expect(output.errorText.hasPrefix("source=\(source) "))
            #expect(origin.requestCount == requests)
        }

        @Test("-H sends fields")
        func fields() async throws {
            #expect(try await tool("get", origin.url("/echo"), "-H", "From:  a: b").text == "a: b")
            #expect(try await tool("get", origin.url("/echo?2"), "--header", "from: c", "-H", "A: b").text == "c")
            try await tool("get", origin.url("/echo"), "-H", "no colon").expect(64, error: "no colon")
            try await tool("get", origin.url("/echo"), "-H", "a b: c").expect(64, error: "a b: c")
            try await tool("get", origin.url("/echo"), "-H", "A: b\nC: d").expect(64, error: "invalid")
        }

        @Test("--verify-digests refuses content that differs from its digest, and stores nothing", .requirement("I16"))
        func digests() async throws {
            let right = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"
            for (digest, isRight) in [(right, true), (right.replacing("LPJ", with: "AAA"), false)] {
                let origin = try await LoopbackOrigin { _ in
                    var reply = OriginReply.ok("hello".utf8, cacheControl: "max-age=60")
                    reply.fields[.reprDigest] = digest
                    return reply
                }
                let output = try await tool("get", origin.url("/digest"), "--verify-digests")
                #expect((output.exitCode == 0) == isRight)
                #expect(output.errorText.contains("repr-digest") == !isRight)
                let stored = try await tool("get", origin.url("/digest"), "--policy", "cache-only")
                #expect((stored.exitCode == 0) == isRight)
                #expect(try await tool("get", origin.url("/digest")).text == "hello", "not asked for")
            }
        }

        #if !canImport(Darwin)
        @Test(
            "--cacert trusts a private authority, --insecure the certificate of a host", .requirement("K5"),
            .enabled(if: TLSOrigin.isInstalled))
        func rootCertificates() async throws {
            let secure = try await TLSOrigin()
            let root = try tool.file("root.pem", Data(TestCertificates.authority.utf8))
            let url = secure.url("/")
            try await tool("get", url).expect(
                2, error: "the connection is not secure: the certificate of the server is not trusted")
            let other = try await tool("get", url, "--insecure", "other.test")
            #expect(other.exitCode == 2)
            #expect(other.errorText.contains("is not trusted"))
            let insecure = try await tool("get", url, "--insecure", "127.0.0.1")
            insecure.expect(0, error: "WARNING: the certificate of 127.0.0.1 is not checked")
            #expect(insecure.text == "HTTP/2.0")
            _ = try await tool("remove", "--all")
            let output = try await tool("get", url, "--cacert", root)
            output.expect(0, error: nil)
            #expect(output.text == "HTTP/2.0")
            let list = try tool.file("list", Data(url.utf8))
            try await tool("prefetch", list, "--cacert", root).expect(0, error: nil)
            try await tool("get", url, "--cacert", list).expect(2, error: "contains no certificate in PEM")
            try await tool("get", url, "--cacert", root + ".not").expect(2, error: "cannot be read")
        }
        #endif

        @Test("The proxy of the environment gets the requests, except those to an excepted host")
        func proxy() async throws {
            var environment = ProcessInfo.processInfo.environment
            environment["http_proxy"] = origin.url("")
            environment["no_proxy"] = ".excepted.invalid"
            let command = ["--store", tool.store, "-v"]
            let url = "http://nowhere.invalid/stale"
            let output = try await tool.raw(["get", url] + command, environment: environment)
            // RFC 9112 §3.2.2: the proxy gets the whole URI.
            output.expect(1, error: "\(url): the origin answered with status 404")
            #expect(origin.requests.map { "\($0.method) \($0.path)" } == ["GET \(url)"])
            let excepted = try await tool.raw(
                ["get", "http://a.excepted.invalid/"] + command, environment: environment)
            excepted.expect(2, error: "there is no host a.excepted.invalid")
            environment["http_proxy"] = "ftp://a.test"
            let wrong = try await tool.raw(["get", url] + command, environment: environment)
            wrong.expect(2, error: "http_proxy names a proxy of the scheme ftp; http, https, socks4 and socks5")
        }

        @Test("The loader sends a User-Agent; a field of the command line replaces it")
        func userAgent() async throws {
            _ = try await tool("get", origin.url("/fresh"))
            _ = try await tool("get", origin.url("/echo"), "-H", "User-Agent: mine")
            #expect(origin.requests.map { $0.fields[.userAgent] } == ["CacheStore", "mine"])
        }

        @Test("Follows redirects, and the line names the final URL")
        func redirect() async throws {
            let output = try await tool("get", origin.url("/moved"), "-v")
            #expect(output.text == "hello")
            #expect(output.errorText.hasSuffix(" url=\(origin.url("/fresh"))\n"))
        }

        @Test("-o replaces a file only by a whole body, and keeps its permissions")
        func outputFile() async throws {
            let file = try tool.file("out", Data("before".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
            try await tool("get", origin.url("/nothing"), "-o", file).expect(1, error: "404")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "before")

            let output = try await tool("get", origin.url("/fresh"), "-o", file)
            output.expect(0, error: nil)
            #expect(output.standardOutput.isEmpty)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello")
            let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(permissions == 0o640)
            let names = try FileManager.default.contentsOfDirectory(atPath: tool.directory.path)
            #expect(Set(names) == ["out", "store"])
        }

        @Test("-o follows a symbolic link, writes to special files, and names a file that it cannot write")
        func specialOutput() async throws {
            let file = try tool.file("target", Data())
            let link = "\(tool.directory.path)/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
            _ = try await tool("get", origin.url("/fresh"), "-o", link)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")

            try await tool("get", origin.url("/fresh"), "-o", "/dev/null").expect(0, error: nil)
            let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
            #expect(type == .typeCharacterSpecial)
            #expect(try await tool("get", origin.url("/fresh"), "-o", "-").text == "hello")
            let (folder, missing) = (tool.directory.path, "\(tool.directory.path)/missing/out")
            try await tool("get", origin.url("/fresh"), "-o", folder).expect(2, error: "\(folder): Is a directory")
            try await tool("get", origin.url("/fresh"), "-o", missing).expect(2, error: "\(missing): No such file")
        }

        @Test("A status of 400 or more exits with 1, and so does a miss under cache-only")
        func negative() async throws {
            try await tool("get", origin.url("/failing")).expect(1, error: "status 500")
            origin.resetRequests()
            let output = try await tool("get", origin.url("/fresh"), "--policy", "cache-only")
            output.expect(1, error: "\(origin.url("/fresh")): not cached")
            #expect(output.standardOutput.isEmpty)
            #expect(origin.requestCount == 0)
        }

        @Test("A reader that closes the pipe ends the tool silently, and the body is still stored")
        func closedPipe() async throws {
            let output = try await tool.shell(
                #"{ "$0" get "$1" "$1" --store "$STORE"; echo "exit code $?" >&2; } | head -c 3"#, origin.url("/large"))
            #expect(output.text == "xxx")
            #expect(output.errorText == "exit code 0\n")
            #expect(try await tool.stored(origin.url("/large"))?.count == 3_000_000)
        }

        #if os(Linux)
        @Test("A full disk under the standard output is an error")
        func fullOutput() async throws {
            let output = try await tool.shell(#"exec "$0" get "$1" --store "$STORE" >/dev/full"#, origin.url("/fresh"))
            output.expect(2, error: "the standard output: No space left on device")
        }
        #endif

        @Test("The default store is the platform's cache directory")
        func defaultDirectory() async throws {
            #if !canImport(Darwin)
            var environment = ProcessInfo.processInfo.environment
            environment["XDG_CACHE_HOME"] = "\(tool.directory.path)/caches"
            let put = try await tool.raw(["get", origin.url("/fresh")], environment: environment)
            #expect(put.text == "hello")
            let index = "\(tool.directory.path)/caches/cachestore/index.sqlite"
            #expect(FileManager.default.fileExists(atPath: index))
            // A relative path does not count.
            environment["XDG_CACHE_HOME"] = "caches"
            environment["HOME"] = "\(tool.directory.path)/home"
            _ = try await tool.raw(["get", origin.url("/fresh")], environment: environment)
            let other = "\(tool.directory.path)/home/.cache/cachestore/index.sqlite"
            #expect(FileManager.default.fileExists(atPath: other))
            #endif
        }

        @Test(
            "Invalid usage",
            arguments: [
                [], ["get"], ["get", "http://a/", "--policy", "never"], ["get", "http://a/", "--timeout", "0"],
                ["get", "http://a/", "--timeout", "nan"], ["get", "http://a/", "--store", ""], ["nonsense"],
                ["get", "http://a/", "--no-such-option"], ["get", "http://a/", "--json", "-o", "-"],
            ])
        func usage(arguments: [String]) async throws {
            let output = try await tool.raw(arguments)
            #expect(output.exitCode == (arguments.isEmpty ? 0 : 64))
            #expect((output.text + output.errorText).lowercased().contains("usage: cachestore"))
        }
    }
}
