import Foundation
import GRDB

/// The store's lookup with GRDB: the same SELECT and pragmas, a cached statement, and a read of every column.
struct GRDBPeer {
    private struct Entry: FetchableRecord {
        var id: Int64
        var kind: Int64
        var variant: String
        var url: String?
        var status: Int
        var etag: String?
        var lastModified: String?
        var contentType: String?
        var requestedAt: Int64
        var receivedAt: Int64
        var expiresAt: Int64?
        var createdAt: Int64
        var isBodyDecoded: Bool
        var byteCount: Int64
        var body: Data?
        var head: String
        var session: Int64?
        var isPinned: Bool
        var tags: String?
        var keyChecksum: Int64?
        var partStart: Int64?
        var partTotal: Int64?
        var groups: String?
        var searchBase: String?

        /// Reads columns by position, as GRDB recommends for speed.
        init(row: Row) {
            id = row[0]
            kind = row[1]
            variant = row[2]
            url = row[3]
            status = row[4]
            etag = row[5]
            lastModified = row[6]
            contentType = row[7]
            requestedAt = row[8]
            receivedAt = row[9]
            expiresAt = row[10]
            createdAt = row[11]
            isBodyDecoded = row[12]
            byteCount = row[13]
            body = row[14]
            head = row[15]
            session = row[16]
            isPinned = row[17]
            tags = row[18]
            keyChecksum = row[19]
            partStart = row[20]
            partTotal = row[21]
            groups = row[22]
            searchBase = row[23]
        }
    }

    private static let sql = """
        SELECT id, kind, variant, url, status, etag, last_modified, content_type, requested_at, received_at,
            expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned, tags,
            key_checksum, part_start, part_total, groups, search_base
        FROM entry
        WHERE partition = ?1 AND key = ?2 AND (session IS NULL OR session = (SELECT session FROM state))
        """

    private let pool: DatabasePool

    init(_ directory: URL) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY")
        }
        pool = try DatabasePool(
            path: directory.appending(path: "index.sqlite").path(percentEncoded: false), configuration: configuration)
    }

    func lookup(_ key: String) throws -> Bool {
        let entry = try pool.read { database in
            let statement = try database.cachedStatement(sql: Self.sql)
            return try Entry.fetchOne(statement, arguments: ["", key])
        }
        return entry != nil
    }
}
