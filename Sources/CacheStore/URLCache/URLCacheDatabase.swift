internal import CPlatform
internal import CSQLite
package import CacheFoundation

/// The database and the files of a `URLCache` on Apple's systems, opened for reading.
///
///     Cache.db                      cfurl_cache_response       a row for each response: URL, time, policy
///                                   cfurl_cache_blob_data      its request and its head, as property lists
///                                   cfurl_cache_receiver_data  its body, or the name of the file with it
///     fsCachedData/UUID             the body of one response
///
/// Apple does not document this format. The names above have been the same since iOS 7, and this type reads no others.
/// It changes neither the database nor a file, but SQLite may create `Cache.db-shm`, the index of an existing WAL. Only
/// one owner at a time may use an object.
package final class URLCacheDatabase {
    /// A response as it is in the database.
    package struct Row {
        /// When the response was stored, in seconds since 1970, or `nil` for another kind of value in the column.
        package let storedAt: Int64?
        /// `URLCache.StoragePolicy`. 0 permits the disk.
        package let storagePolicy: Int64
        /// The site for which WebKit made the request. Empty for a request of the app.
        package let partition: String
        /// The request as a property list. Empty if longer than ``URLCacheDatabase/maxListByteCount``.
        package let request: Data
        /// The head of the response as a property list, with the same limit.
        package let response: Data
        fileprivate let isInFile: Bool
        fileprivate let content: Data
    }

    /// The longest property list that this type reads, in bytes.
    static let maxListByteCount = 1 << 20
    /// The longest body inside the database that this type reads. `URLCache` keeps longer ones in files.
    private static let maxContentByteCount: Int32 = 64 << 20

    /// The path of the database.
    package let path: String
    /// Distinguishes this database from other ones, also from a later one at the same path.
    let identity: FileIdentity
    private let directory: FileDescriptor
    private let connection: Connection

    /// Opens the database of the `URLCache` in `url`, if any. Throws `notAnIndex`, `index`, `busy` or `file`.
    package init?(in url: URL) throws(StoreError) {
        let given = url.path(percentEncoded: false)
        guard url.isFileURL, !given.utf8.contains(0), let resolved = realpath(given, nil) else { return nil }
        let root = String(cString: resolved)
        free(resolved)
        let path = root + "/Cache.db"
        let directory = try FileDescriptor.openDirectory(atPath: root)
        var files: [FileStatus?] = []
        for suffix in ["", "-wal", "-journal", "-shm"] { files.append(try directory.status(of: "Cache.db" + suffix)) }
        guard let database = files[0] else { return nil }
        // SQLite would follow links that have the names of the journals.
        guard files.allSatisfy({ $0?.isRegular ?? true }) else {
            throw .notAnIndex(path: path, reason: "the database or a file beside it is not a regular file")
        }
        self.path = path
        self.directory = directory
        identity = FileIdentity(database)
        let isClosed = files[1] == nil && files[2] == nil
        connection = try Connection(
            path: path, role: .foreign(isClosed: isClosed), busyTimeout: .seconds(5), cacheByteCount: 512 << 10)
        connection.limitLength(to: Self.maxContentByteCount)
        guard try connection.hasTablesOfURLCache() else {
            throw .notAnIndex(path: path, reason: "it lacks the tables of a URLCache")
        }
    }

    /// Returns the first id after `id`, or `nil` after the last. Ids follow the order in which responses were stored.
    package func nextID(after id: Int64) throws(StoreError) -> Int64? {
        // Use the rowid, an alias of entry_ID, because a manipulated table might lack the index of entry_ID.
        let statement = try connection.prepared(
            "SELECT rowid FROM cfurl_cache_response WHERE rowid > ?1 ORDER BY rowid LIMIT 1")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        guard try statement.step() else { return nil }
        // In a damaged tree, the search may end at a smaller rowid, which SQLite does not compare again.
        let next = statement.int64(0)
        guard next > id else {
            throw .index(SQLiteError(extendedCode: SQLITE_CORRUPT, message: "its rows are out of order"))
        }
        return next
    }

    /// Returns the row of an id, or `nil` for an incomplete row.
    package func row(_ id: Int64) throws(StoreError) -> Row? {
        let statement = try connection.prepared(
            """
            SELECT CAST(strftime('%s', response.time_stamp) AS INTEGER), response.storage_policy,
                coalesce(response.partition, ''),
                CASE WHEN length(blob.request_object) <= ?2 THEN blob.request_object END,
                CASE WHEN length(blob.response_object) <= ?2 THEN blob.response_object END,
                receiver.isDataOnFS, receiver.receiver_data
            FROM cfurl_cache_response AS response
            JOIN cfurl_cache_blob_data AS blob ON blob.rowid = response.rowid
            JOIN cfurl_cache_receiver_data AS receiver ON receiver.rowid = response.rowid
            WHERE response.rowid = ?1
            """)
        defer { statement.reset() }
        statement.bind(id, at: 1)
        statement.bind(Int64(Self.maxListByteCount), at: 2)
        guard try statement.step() else { return nil }
        return Row(
            storedAt: statement.int64OrNil(0), storagePolicy: statement.int64(1), partition: statement.text(2),
            request: statement.data(3), response: statement.data(4), isInFile: statement.int64(5) != 0,
            content: statement.data(6))
    }

    /// Opens the body of a row. Returns `nil` for a missing file, and for a file name that `URLCache` does not use.
    package func body(of row: Row) throws(StoreError) -> URLCacheBody? {
        guard row.isInFile else {
            return URLCacheBody(byteCount: Int64(row.content.count), source: .inline(row.content))
        }
        let name = String(decoding: row.content, as: UTF8.self)
        // A name with a slash or dots could lead to other files of the program.
        guard UUID(uuidString: name) != nil else { return nil }
        do throws(StoreError) {
            let file = try directory.openBeneath("fsCachedData/" + name)
            let status = try file.status()
            return status.isRegular ? URLCacheBody(byteCount: status.size, source: .file(file)) : nil
        } catch {
            guard error.meansMissing else { throw error }
            return nil
        }
    }
}

/// A body that a `URLCache` has stored.
package struct URLCacheBody {
    fileprivate enum Source {
        case inline(Data)
        case file(FileDescriptor)
    }

    package let byteCount: Int64
    fileprivate let source: Source

    /// Returns at most `count` bytes from `offset`. Returns fewer if the file has become shorter.
    package func bytes(at offset: Int64, count: Int) throws(StoreError) -> [UInt8] {
        let count = Int(max(0, min(Int64(count), byteCount - offset)))
        switch source {
        case .inline(let data):
            return Array(data.dropFirst(Int(offset)).prefix(count))
        case .file(let file):
            var bytes = [UInt8](repeating: 0, count: count)
            let read = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(StoreError) in try file.read(into: buffer, at: offset) }
            }
            return Array(bytes.prefix(try read.get()))
        }
    }
}

extension Connection {
    /// Whether the three tables exist, and are tables. A view or a virtual table would run its SQL in a query.
    fileprivate func hasTablesOfURLCache() throws(StoreError) -> Bool {
        let statement = try prepared(
            """
            SELECT count(*) FROM sqlite_master
            WHERE type = 'table' AND rootpage > 0
                AND name IN ('cfurl_cache_response', 'cfurl_cache_blob_data', 'cfurl_cache_receiver_data')
            """)
        return try statement.integer() == 3
    }
}
