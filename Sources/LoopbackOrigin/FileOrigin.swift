internal import ByteText
internal import CacheFoundation
internal import Synchronization

/// Serves the files of a directory tree, with validators and conditional requests.
///
/// The initializer reads the whole tree into memory, except symbolic links. Requests then never access the disk.
public final class FileOrigin: Sendable {
    private struct File {
        var body: [UInt8]
        var etag: String
        var modified: Int

        init(body: [UInt8], modified: Int) {
            self.body = body
            self.modified = modified
            etag = "\"\(String(body.count, radix: 16))-\(String(FNV1a.hash(body), radix: 16))\""
        }
    }

    /// The files by request path, before percent-encoding. Guards only the table.
    private let files: Mutex<[String: File]>
    private let cacheControl: @Sendable (String) -> String?

    /// Reads the tree below `directory`.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory.
    ///   - cacheControl: Returns the `Cache-Control` of the file at a path, if any.
    /// - Throws: Foundation's error for an unreadable directory or file.
    public convenience init(
        directory: String, cacheControl: @escaping @Sendable (_ path: String) -> String? = { _ in "max-age=60" }
    ) throws {
        try self.init(
            directory: directory, paths: FileManager.default.subpathsOfDirectory(atPath: directory),
            cacheControl: cacheControl)
    }

    /// Reads some files below `directory`.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory.
    ///   - paths: The paths of the files, relative to `directory`. Skips paths that are not regular files.
    ///   - cacheControl: Returns the `Cache-Control` of the file at a path, if any.
    /// - Throws: Foundation's error for an unreadable file.
    public init(
        directory: String, paths: some Sequence<String>,
        cacheControl: @escaping @Sendable (_ path: String) -> String? = { _ in "max-age=60" }
    ) throws {
        var found: [String: File] = [:]
        for relative in paths {
            let path = "\(directory)/\(relative)"
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            let modified = attributes[.modificationDate] as? Date ?? Date(timeIntervalSince1970: 0)
            found["/\(relative)"] = File(
                body: Array(try Data(contentsOf: URL(filePath: path))), modified: Int(modified.timeIntervalSince1970))
        }
        files = Mutex(found)
        self.cacheControl = cacheControl
    }

    /// The request paths of all files, percent-encoded and sorted.
    public var paths: [String] {
        files.withLock { $0.keys.sorted() }.map { path in
            PercentEncoding.encoded(path.utf8) { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
        }
    }

    /// Returns the current content at `path`, if any.
    public func body(at path: String) -> [UInt8]? {
        file(at: path)?.body
    }

    /// Serves `body` at `path` from now on. Does not change the disk.
    ///
    /// The entity tag follows the content, and `Last-Modified` is one second later than before, so that both validators
    /// change.
    public func overlay(_ path: String, with body: [UInt8]) {
        let path = Self.decoded(path.utf8[...])
        files.withLock { files in
            files[path] = File(body: body, modified: (files[path]?.modified ?? 0) + 1)
        }
    }

    /// Answers GET and HEAD with the file, or with 304 if the request's condition matches. Otherwise answers 404 or
    /// 405.
    public func reply(to request: OriginRequest) -> OriginReply {
        guard let file = file(at: request.path) else { return .status(.notFound) }
        guard request.method == .get || request.method == .head else {
            return .status(.methodNotAllowed, fields: [.allow: "GET, HEAD"])
        }
        let path = Self.name(request.path)
        return .resource(
            file.body, for: request, etag: file.etag, lastModified: OriginDate.text(secondsSince1970: file.modified),
            cacheControl: cacheControl(path), contentType: ContentType.of(path: path))
    }

    private func file(at path: String) -> File? {
        let name = Self.name(path)
        return files.withLock { $0[name] }
    }

    /// Returns the path without its query and percent-encoding.
    private static func name(_ path: String) -> String {
        decoded(path.utf8.prefix { $0 != UInt8(ascii: "?") })
    }

    private static func decoded(_ text: Substring.UTF8View) -> String {
        var (rest, bytes) = (text, [UInt8]())
        while let (byte, _) = PercentEncoding.popByte(&rest) { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension LoopbackOrigin {
    /// Starts an origin that serves `files`.
    public convenience init(
        serving files: FileOrigin, date: @escaping @Sendable () -> String? = { OriginDate.now() }
    ) async throws {
        try await self.init(date: date) { files.reply(to: $0) }
    }
}
