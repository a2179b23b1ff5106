import CacheInspector
import TestSupport

@Suite("Files of the page")
struct WebFileTests {
    @Test("the program contains every file of the folder Web, and the files are small")
    func embedded() async throws {
        let root = URL(filePath: #filePath).appending(path: "../../../").standardizedFileURL
        let folder = root.appending(path: "Sources/CInspectorPage/Web")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        #expect(names.contains("index.html"))
        var byteCount = 0
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let answer = try await Panel().get(name)
            #expect(answer.text == text)
            byteCount += text.utf8.count
        }
        #expect(byteCount <= 150 * 1_024)
        #expect(try await Panel().get("").text == Panel().get("index.html").text)
    }

    @Test("the page loads only its own files, and no inline code")
    func policy() async throws {
        let answer = try await Panel().get("index.html")
        let policy = try #require(answer.answer.fields[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(!policy.contains("*"))
        #expect(!policy.contains("data:"))
    }

    @Test(
        "a path is looked up in a list, not in the file system",
        arguments: [
            "../index.sqlite", "..%2F..%2Fetc/passwd", "/etc/passwd", "Web/index.html", "index.html/",
            "index.html%00.js", "api", "api/", "api/x", "api/entries/1", "./index.html",
        ])
    func traversal(_ path: String) async throws {
        #expect(try await Panel().get(path).status == 404)
    }
}
