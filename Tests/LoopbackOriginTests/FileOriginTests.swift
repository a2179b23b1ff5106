import TestSupport

@Suite("FileOrigin", .timeLimit(.minutes(5)))
struct FileOriginTests {
    private let directory: TemporaryDirectory
    private let files: FileOrigin

    init() throws {
        directory = try TemporaryDirectory()
        let root = directory.url.appending(path: "site")
        try FileManager.default.createDirectory(at: root.appending(path: "deep/er"), withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: directory.url.appending(path: "secret.txt"))
        try Data("<p>".utf8).write(to: root.appending(path: "index.html"))
        try Data("{}".utf8).write(to: root.appending(path: "deep/er/a b%.json"))
        try Data().write(to: root.appending(path: "empty"))
        try FileManager.default.createSymbolicLink(
            at: root.appending(path: "link.txt"), withDestinationURL: directory.url.appending(path: "secret.txt"))
        try FileManager.default.createSymbolicLink(at: root.appending(path: "up"), withDestinationURL: directory.url)
        files = try FileOrigin(directory: root.path(percentEncoded: false)) { path in
            path.hasSuffix(".html") ? "no-cache" : nil
        }
    }

    @Test("Serves every file under its percent-encoded path, and no symbolic link")
    func paths() {
        #expect(files.paths == ["/deep/er/a%20b%25.json", "/empty", "/index.html"])
        for path in files.paths { #expect(files.reply(to: OriginRequest(path: path)).status == .ok) }
    }

    @Test("Can serve only the named files of a tree")
    func namedPaths() throws {
        let root = directory.url.appending(path: "site").path(percentEncoded: false)
        let some = try FileOrigin(directory: root, paths: ["empty", "deep/er/a b%.json", "link.txt", "deep"])
        #expect(some.paths == ["/deep/er/a%20b%25.json", "/empty"])
        #expect(throws: (any Error).self) { try FileOrigin(directory: root, paths: ["missing"]) }
    }

    @Test("A file has its validators, type and policy")
    func fields() throws {
        let reply = files.reply(to: OriginRequest(path: "/index.html?query"))
        #expect(reply.body == Array("<p>".utf8))
        #expect(reply.fields[.contentType] == "text/html")
        #expect(reply.fields[.cacheControl] == "no-cache")
        let etag = try #require(reply.fields[.eTag])
        #expect(etag.hasPrefix("\""))
        #expect(etag.hasSuffix("\""))
        #expect(etag.count > 2)
        #expect(reply.fields[.lastModified].flatMap(OriginDate.seconds(of:)) != nil)

        let other = files.reply(to: OriginRequest(path: "/deep/er/a%20b%25.json"))
        #expect(other.fields[.contentType] == "application/json")
        #expect(other.fields[.cacheControl] == nil)
        #expect(other.fields[.eTag] != etag)
    }

    @Test(
        "No request reaches a file outside the tree",
        arguments: [
            "/../secret.txt", "/deep/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt",
            "/%252e%252e/secret.txt", "/deep/..", "/", "", "//index.html", "/./index.html", "/index.html/",
            "/index.html%00", "/link.txt", "/up/secret.txt", "/up/site/index.html", "/deep", "index.html", "*",
        ])
    func traversal(path: String) {
        #expect(files.reply(to: OriginRequest(path: path)).status == .notFound)
    }

    @Test("Allows only GET and HEAD")
    func methods() {
        let reply = files.reply(to: OriginRequest(method: .delete, path: "/index.html"))
        #expect(reply.status == .methodNotAllowed)
        #expect(reply.fields[.allow] == "GET, HEAD")
        #expect(files.reply(to: OriginRequest(method: .delete, path: "/nothing")).status == .notFound)
    }

    @Test("An overlay changes content and both validators for later requests, but not the disk")
    func overlay() throws {
        let path = "/deep/er/a%20b%25.json"
        let before = files.reply(to: OriginRequest(path: path))
        let byTag = OriginRequest(path: path, fields: [.ifNoneMatch: try #require(before.fields[.eTag])])
        let byDate = OriginRequest(path: path, fields: [.ifModifiedSince: try #require(before.fields[.lastModified])])
        #expect(files.reply(to: byTag).status == .notModified)
        #expect(files.reply(to: byDate).status == .notModified)

        files.overlay(path, with: Array("[]".utf8))
        #expect(files.reply(to: byTag).status == .ok)
        #expect(files.reply(to: byDate).body == Array("[]".utf8))
        #expect(files.body(at: path) == Array("[]".utf8))
        let onDisk = directory.url.appending(path: "site/deep/er/a b%.json")
        #expect(try Data(contentsOf: onDisk) == Data("{}".utf8))

        files.overlay("/new", with: [1])
        #expect(files.reply(to: OriginRequest(path: "/new")).body == [1])
    }

    @Test("Serves over HTTP")
    func served() async throws {
        let origin = try await LoopbackOrigin(serving: files)
        let client = try await RawClient(origin)
        try await client.request("/index.html")
        #expect(try await client.head().contains("Content-Type: text/html"))
        #expect(try await client.bytes(3) == "<p>")
        let etag = try #require(files.reply(to: OriginRequest(path: "/index.html")).fields[.eTag])
        try await client.request("/index.html", "If-None-Match: \(etag)")
        #expect(try await client.head().hasPrefix("HTTP/1.1 304 "))
        #expect(origin.counters.notModified == 1)
        #expect(origin.counters.bodyBytes == 3)
    }
}
