internal import HTTPTypes
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The files of a directory tree as the resources of an origin, with validators and conditional requests.
///
/// The tree is read once, at the start: a request is looked up among the paths found then, so that no request reaches the
/// disk, and the whole content is in memory. Symbolic links are left out.
public final class FileOrigin: Sendable {
    private struct File {
        var body: [UInt8]
        var etag: String
        var modified: Int

        init(body: [UInt8], modified: Int) {
            self.body = body
            self.modified = modified
            etag = "\"\(String(body.count, radix: 16))-\(String(fnv1a(body), radix: 16))\""
        }
    }

    /// The files by request path, before percent-encoding. Guards only the table.
    private let files: Mutex<[String: File]>
    private let cacheControl: @Sendable (String) -> String?

    /// Reads the tree below `directory`.
    ///
    /// - Parameter cacheControl: The `Cache-Control` of the file at a path; `nil` for none.
    /// - Throws: What Foundation said about a directory or file that cannot be read.
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
    ///   - paths: Where they are, relative to `directory`. What is no regular file is left out.
    ///   - cacheControl: The `Cache-Control` of the file at a path; `nil` for none.
    /// - Throws: What Foundation said about a file that cannot be read.
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

    /// The paths to ask for, percent-encoded, in order.
    public var paths: [String] {
        files.withLock { $0.keys.sorted() }.map(PercentEncoding.encoded)
    }

    /// The content now served at `path`, `nil` for none.
    public func body(at path: String) -> [UInt8]? {
        file(at: path)?.body
    }

    /// Serves `body` at `path` from now on; the disk stays as it is.
    ///
    /// The entity tag follows the content, and `Last-Modified` is a second later than before, so that either validator
    /// shows the change.
    public func overlay(_ path: String, with body: [UInt8]) {
        let path = PercentEncoding.decoded(path)
        files.withLock { files in
            files[path] = File(body: body, modified: (files[path]?.modified ?? 0) + 1)
        }
    }

    /// Answers GET and HEAD with the file, or 304 as the request's condition has it; the rest with 404 or 405.
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

    /// The path without its query and percent-encoding.
    private static func name(_ path: String) -> String {
        PercentEncoding.decoded(String(path.prefix { $0 != "?" }))
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

/// The 64-bit FNV-1a hash: tells contents apart for an entity tag, and is no protection against anyone who wants them alike.
private func fnv1a(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
}
