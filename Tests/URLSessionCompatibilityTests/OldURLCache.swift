import TestSupport

/// A `URLCache` as Apple's systems write it: see `URLCacheDatabase` and `ArchivedExchange` for the format.
///
/// The schema, the versions and the order of the arrays follow a `Cache.db` of iOS 14.
struct OldURLCache {
    static let schema = """
        CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER);
        INSERT INTO cfurl_cache_schema_version VALUES (202);
        CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, version INTEGER,
            hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE,
            time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT);
        CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB, request_object BLOB,
            proto_props BLOB, user_info BLOB);
        CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER, receiver_data BLOB);
        """

    /// A response in the cache.
    struct Response {
        var path = "/a"
        var answeredPath: String?
        var method = "GET"
        var requestFields = ["User-Agent": "App", "__hhaa__": "YnBsaXN0MDA="]
        var status = 200
        var fields = ["Cache-Control": "max-age=60"]
        var body = Data("body".utf8)
        /// The name of the file with the body, or `nil` for a body in the database.
        var file: String?
        var storagePolicy = 0
        var partition: String?
        /// The time in the archive at which the head arrived.
        var receivedAt: Date?
        var timeStamp = "2026-01-01 00:00:00"
    }

    let directory: URL
    let connection: Connection

    init(in directory: URL, schema: String = schema) throws {
        self.directory = directory
        try FileManager.default.createDirectory(
            at: directory.appending(path: "fsCachedData"), withIntermediateDirectories: true)
        let path = directory.appending(path: "Cache.db").path(percentEncoded: false)
        connection = try Connection(path: path, role: .writer, busyTimeout: .zero, creates: true)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute(schema)
    }

    func add(_ response: Response) throws {
        if let file = response.file {
            try? response.body.write(to: directory.appending(path: "fsCachedData").appending(path: file))
        }
        try add(
            request: Self.request(response), response: Self.head(response), timeStamp: response.timeStamp,
            storagePolicy: response.storagePolicy, partition: response.partition, isInFile: response.file != nil,
            content: response.file.map { Data($0.utf8) } ?? response.body)
    }

    /// Adds a row with arbitrary property lists.
    func add(
        request: Data, response: Data, timeStamp: String = "2026-01-01 00:00:00", storagePolicy: Int = 0,
        partition: String? = nil, isInFile: Bool = false, content: Data = Data("body".utf8)
    ) throws {
        try connection.execute(
            """
            INSERT INTO cfurl_cache_response (version, hash_value, storage_policy, request_key, time_stamp, partition)
                VALUES (0, 0, \(storagePolicy), hex(randomblob(16)), '\(timeStamp)', nullif('\(partition ?? "")', ''));
            INSERT INTO cfurl_cache_blob_data VALUES
                (last_insert_rowid(), \(response.literal), \(request.literal), NULL, NULL);
            INSERT INTO cfurl_cache_receiver_data VALUES (last_insert_rowid(), \(isInFile ? 1 : 0), \(content.literal));
            """)
    }

    static func url(_ path: String) -> [String: Any] {
        ["_CFURLStringType": 15, "_CFURLString": "https://example.com\(path)"]
    }

    static func request(_ response: Response) -> Data {
        let null = "__CFURLRequestNullTokenString__"
        return list(
            9,
            [
                false, url(response.path), 60.5, 0, null, true, 260, null, null, true, false, 0, 0.5, 0.5, 0, -1, null,
                2, response.method, response.requestFields, null, null,
            ])
    }

    static func head(_ response: Response) -> Data {
        list(
            1,
            [
                url(response.answeredPath ?? response.path),
                response.receivedAt?.timeIntervalSinceReferenceDate ?? "__CFURLResponseNullTokenString__", 0,
                response.status, response.fields, response.body.count, "text/plain",
            ])
    }

    static func list(_ version: Int, _ array: [Any]) -> Data {
        let list: [String: Any] = ["Version": version, "Array": array]
        guard let data = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0) else {
            preconditionFailure("the values are those of property lists")
        }
        return data
    }

    /// The names and bytes of all files, except the WAL index, which has no data.
    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) where !name.hasSuffix("-shm") {
            files[name] = (try? Data(contentsOf: directory.appending(path: name))) ?? Data()
        }
        return files
    }
}

extension Data {
    /// The bytes as an SQL literal.
    fileprivate var literal: String {
        let digits = Array("0123456789ABCDEF".utf8)
        return "X'" + String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self) + "'"
    }
}
