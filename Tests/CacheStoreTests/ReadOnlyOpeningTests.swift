import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("Read-only opening")
struct ReadOnlyOpeningTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        let store = try sandbox.open()
        try store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
        store.close()
    }

    @Test("a read-only store that is opened first blocks no other opener")
    func opensFirst() throws {
        let reader = try sandbox.open { $0.isReadOnly = true }
        let other = try sandbox.open { $0.isReadOnly = true }
        let writer = try sandbox.open { $0.busyTimeout = .milliseconds(20) }
        try writer.insert(Data("y".utf8), metadata: sandbox.metadata(), for: .path("y"))
        for store in [reader, other] { #expect(try store.bytes(.path("y")) == Data("y".utf8)) }
    }

    @Test("a read-only store keeps a session alive, and ends none")
    func sessions() throws {
        let store = try sandbox.open()
        try store.setOptions(EntryOptions(lifetime: .session), for: .path("x"))
        let reader = try sandbox.open { $0.isReadOnly = true }
        store.close()
        #expect(try sandbox.open().bytes(.path("x")) != nil)
        reader.close()
        #expect(try sandbox.open { $0.isReadOnly = true }.bytes(.path("x")) != nil)
        #expect(try sandbox.open().bytes(.path("x")) == nil)
    }

    @Test(
        "a directory without a readable store is a typed error, and stays unchanged",
        arguments: ["", "CREATE TABLE mine (x)", "garbage"])
    func noStore(content: String) throws {
        let other = try Sandbox()
        try FileManager.default.createDirectory(at: other.url, withIntermediateDirectories: true)
        switch content {
        case "": break
        case "garbage": try Data(repeating: 0xA5, count: 5_000).write(to: URL(filePath: other.indexPath))
        default: try RawIndex(other.indexPath).execute(content)
        }
        let before = try? Data(contentsOf: URL(filePath: other.indexPath))
        switch #expect(throws: StoreError.self, performing: { try other.open { $0.isReadOnly = true } }) {
        case .unusableDirectory: #expect(content.isEmpty)
        case .notAnIndex: #expect(!content.isEmpty)
        case let error: Issue.record("\(String(describing: error))")
        }
        #expect((try? Data(contentsOf: URL(filePath: other.indexPath))) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path).count == (content.isEmpty ? 0 : 1))
    }
}
