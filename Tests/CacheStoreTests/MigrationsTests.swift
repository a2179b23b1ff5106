import Migrations
import TestSupport

@Suite("Migrations")
struct MigrationsTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    @Test("the steps count up from 1")
    func order() {
        #expect(migrations.map(\.version) == Array(1...Int32(migrations.count)))
    }

    @Test("a new index has the version of the last step and the id of this package")
    func identity() throws {
        let index = try RawIndex(sandbox.indexPath)
        #expect(try index.value("PRAGMA user_version") == "\(migrations.count)")
        #expect(try index.value("PRAGMA application_id") == "\(0x4361_5374)")
        #expect(try index.value("PRAGMA journal_mode") == "wal")
        #expect(try index.value("PRAGMA foreign_key_check") == nil)
        #expect(try index.value("PRAGMA integrity_check") == "ok")
    }

    @Test("every column has a comment, every table is STRICT")
    func comments() throws {
        for migration in migrations {
            var table: String?
            for line in migration.sql.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
                if line.hasPrefix("CREATE TABLE") { table = line }
                if line.hasPrefix("ALTER TABLE"), line.contains(" ADD ") {
                    #expect(line.contains(/\ -- \S+/), "\(line)")
                }
                guard let name = table else { continue }
                if line.hasPrefix(")") {
                    #expect(line.contains("STRICT"), "\(name)")
                    table = nil
                } else if line != name, !line.trimmingCharacters(in: .whitespaces).hasPrefix("PRIMARY KEY") {
                    #expect(line.contains(/\ -- \S+/), "\(name) \(line)")
                }
            }
        }
    }

    @Test(
        "the views have the documented columns",
        arguments: [
            (
                "cache_entries",
                "partition key url host kind variant status content_type etag last_modified byte_size sha256 file_path freshness "
                    + "expires_at created_at validated_at accessed_at hit_count error_count "
                    + "id lifetime is_pinned tags part_start part_total groups fields"
            ),
            (
                "cache_stats",
                "entries files logical_bytes physical_bytes hits failing_keys damaged_bodies "
                    + "derived_bodies derived_bytes eviction_policy"
            ),
            ("cache_requests", "host hits stale revalidated tier misses errors counted_at"),
            ("cache_version", "version"),
            ("cache_derived", "entry_id partition key name byte_size sha256 file_path created_at"),
            ("cache_hosts", "host entries byte_size hits error_responses accessed_at"),
            ("cache_errors", "partition key status error_count failed_at request"),
        ])
    func views(_ view: String, _ columns: String) throws {
        #expect(try store.query("SELECT * FROM \(view)").columns.joined(separator: " ") == columns)
    }

    @Test("cache_entries shows stored responses, their files and their freshness")
    func entries() throws {
        var metadata = sandbox.metadata(etag: "\"x\"")
        metadata.contentType = "text/plain"
        metadata.expiresAt = sandbox.clock.now + 3600
        try store.insert(Data("hello".utf8), metadata: metadata, for: .path("fresh"))
        try store.insert(Data(), metadata: sandbox.metadata(.error, expiresIn: 0), for: .path("stale"))
        try store.recordFailure(for: .path("stale"), status: 503)
        let rows = try store.query(
            """
            SELECT url, host, kind, status, content_type, etag, byte_size, sha256, file_path, freshness, error_count
            FROM cache_entries ORDER BY url
            """
        ).rows
        let hello = ContentDigestTests.hello
        #expect(
            rows == [
                [
                    .text("https://example.com/fresh"), .text("example.com"), .text("content"), .integer(200),
                    .text("text/plain"), .text("\"x\""), .integer(5), .text(hello),
                    .text("blobs/2c/\(hello.dropFirst(2))"), .text("fresh"), .integer(0),
                ],
                [
                    .text("https://example.com/stale"), .text("example.com"), .text("error"), .integer(404), .null,
                    .null, .integer(0), .null, .null, .text("stale"), .integer(1),
                ],
            ])
        let path = try #require(try RawIndex(sandbox.indexPath).value("SELECT file_path FROM cache_entries LIMIT 1"))
        #expect(try Data(contentsOf: sandbox.url.appending(path: path)) == Data("hello".utf8))
    }

    @Test("cache_stats, cache_hosts and cache_errors add up")
    func sums() throws {
        for number in 0..<3 { try store.insert(Data("same".utf8), metadata: sandbox.metadata(), for: .path(number)) }
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(.error), for: CacheKey(url: "http://b.org/"))
        _ = try store.lookup(.path(0))
        try store.recordFailure(for: .path("x"), status: 500)
        #expect(
            try store.query("SELECT * FROM cache_stats").rows == [
                [
                    .integer(4), .integer(2), .integer(13), .integer(5), .integer(1), .integer(1), .integer(0),
                    .integer(0), .integer(0), .text("least-recently-used"),
                ]
            ])
        #expect(
            try store.query("SELECT host, entries, byte_size, hits, error_responses FROM cache_hosts ORDER BY host")
                .rows == [
                    [.text("b.org"), .integer(1), .integer(1), .integer(0), .integer(1)],
                    [.text("example.com"), .integer(3), .integer(12), .integer(1), .integer(0)],
                ])
        #expect(
            try store.query("SELECT key, status, error_count, failed_at FROM cache_errors").rows == [
                [.text("https://example.com/x"), .integer(500), .integer(1), .text("1994-11-06T08:49:37.000Z")]
            ])
    }
}
