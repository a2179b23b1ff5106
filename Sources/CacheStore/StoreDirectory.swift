#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CPlatform

/// The identity of a file or directory, whatever its name.
struct FileIdentity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
    }

    /// `nil` if nothing has that path.
    init?(atPath path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(FileStatus(status))
    }
}

/// The directory of a store, found or made.
struct StoreDirectory: Sendable {
    /// Without symbolic links, which SQLite is told not to follow.
    let path: String
    /// Refers to the directory that has the path: see ``reopenIfReplaced(createsDirectory:)``.
    let root: FileDescriptor

    var indexPath: String { path + "/index.sqlite" }

    /// Directories that were made on the way to this one, and whose names a power cut may still take back.
    private let parents: [String]

    /// The directory at `url`; made with what leads to it, for its owner only, if it is not there.
    init(creating url: URL) throws(StoreError) {
        try self.init(url, createsDirectory: true)
    }

    /// The directory at `url`, which must be there.
    init(opening url: URL) throws(StoreError) {
        try self.init(url, createsDirectory: false)
    }

    private init(_ url: URL, createsDirectory: Bool) throws(StoreError) {
        guard url.isFileURL else { throw .unusableDirectory(path: url.absoluteString, reason: "it is not a file URL") }
        let given = url.path(percentEncoded: false)
        guard !given.utf8.contains(0) else { throw .unusableDirectory(path: given, reason: "its path contains a NUL") }
        parents = createsDirectory ? try Self.makeDirectories(given) : []
        guard let resolved = realpath(given, nil) else {
            throw .unusableDirectory(path: given, reason: String(cString: strerror(errno)))
        }
        path = String(cString: resolved)
        free(resolved)
        do throws(SystemError) {
            root = try FileDescriptor.openDirectory(atPath: path)
        } catch {
            let reason =
                error.errno == ENOTDIR ? "there is a file of that name" : String(cString: strerror(error.errno))
            throw .unusableDirectory(path: path, reason: reason)
        }
    }

    /// Follows the path if another directory has its place, or none. Called before a connection is opened: SQLite opens paths.
    ///
    /// - Parameter createsDirectory: Whether to create a missing directory, as the opening of a store does.
    func reopenIfReplaced(createsDirectory: Bool) throws(StoreError) {
        let present = try StoreDirectory(URL(filePath: path), createsDirectory: createsDirectory)
        // The last component may be a symbolic link now, which SQLite is told not to follow.
        guard present.path == path else {
            throw .unusableDirectory(path: path, reason: "a symbolic link has taken its place")
        }
        _ = try wrappingErrors { () throws(SystemError) in try root.follow(present.root) }
    }

    /// `mkdir -p` with mode 0700, which neither a umask nor Foundation's defaults widen.
    ///
    /// - Returns: The directories in which one was made.
    private static func makeDirectories(_ path: String) throws(StoreError) -> [String] {
        var parents: [String] = []
        var partial = path.hasPrefix("/") ? "/" : ""
        for component in path.split(separator: "/") {
            let parent = partial.isEmpty ? "." : partial
            partial += component
            if mkdir(partial, 0o700) == 0 {
                parents.append(parent)
            } else {
                let code = errno
                var status = stat()
                guard stat(partial, &status) == 0 else {
                    throw .unusableDirectory(path: partial, reason: String(cString: strerror(code)))
                }
                guard status.st_mode & S_IFMT == S_IFDIR else {
                    throw .unusableDirectory(path: partial, reason: "there is a file of that name")
                }
            }
            partial += "/"
        }
        return parents
    }

    /// Makes the names in this directory, and of it, outlast a power cut.
    func syncNames() throws(SystemError) {
        try root.sync()
        for parent in parents { try FileDescriptor.openDirectory(atPath: parent).sync() }
    }

    /// Whether the last process to use the store closed it: SQLite then leaves no log. While another process uses the store
    /// it has a log, too.
    var wasShutDown: Bool {
        guard let log = try? root.status(of: "index.sqlite-wal") else { return true }
        return log.size == 0
    }
}
