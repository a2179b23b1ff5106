internal import CPlatform
internal import CSQLite
internal import CacheFoundation

/// The identity of a file or directory, independent of its name.
struct FileIdentity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
    }

    /// Returns `nil` for a missing file.
    init?(atPath path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(FileStatus(status))
    }
}

/// The directory of a store.
struct StoreDirectory: Sendable {
    /// The path without symbolic links, because connections do not follow them.
    let path: String
    /// Refers to the directory that has the path: see ``reopenIfReplaced(createsDirectory:)``.
    let root: FileDescriptor

    var indexPath: String { path + "/index.sqlite" }

    /// The parents of created directories: a power cut may lose the new names until ``syncNames()``.
    private let parents: [String]

    /// Opens the directory at `url`. With `createsDirectory`, creates it and missing parents, for their owner only.
    init(_ url: URL, createsDirectory: Bool) throws(StoreError) {
        guard url.isFileURL else { throw .unusableDirectory(path: url.absoluteString, reason: "it is not a file URL") }
        let given = url.path(percentEncoded: false)
        guard !given.utf8.contains(0) else { throw .unusableDirectory(path: given, reason: "its path contains a NUL") }
        parents = createsDirectory ? try Self.makeDirectories(given) : []
        guard let resolved = realpath(given, nil) else {
            throw .unusableDirectory(path: given, reason: String(cString: strerror(errno)))
        }
        path = String(cString: resolved)
        free(resolved)
        // SQLite needs room for its longest file name, index.sqlite-journal.
        let limit = Int(sqlite3_vfs_find(nil).pointee.mxPathname) - "/index.sqlite-journal".utf8.count
        guard path.utf8.count <= limit else {
            throw .unusableDirectory(
                path: path, reason: "its path has \(path.utf8.count) bytes, and SQLite takes at most \(limit)")
        }
        do throws(StoreError) {
            root = try FileDescriptor.openDirectory(atPath: path)
        } catch {
            let reason =
                error.errno == ENOTDIR ? "there is a file of that name" : String(cString: strerror(error.errno))
            throw .unusableDirectory(path: path, reason: reason)
        }
    }

    /// Throws if another user can change the directory. Root can change every directory.
    func checkOwner() throws(StoreError) {
        var status = stat()
        guard fstat(root.number, &status) == 0 else {
            throw .unusableDirectory(path: path, reason: String(cString: strerror(errno)))
        }
        if status.st_uid != geteuid(), status.st_uid != 0 {
            throw .foreignDirectory(path: path, reason: "it belongs to the user \(status.st_uid), not to \(geteuid())")
        }
        if status.st_mode & 0o002 != 0 {
            throw .foreignDirectory(path: path, reason: "every user may write it")
        }
        if status.st_mode & 0o020 != 0, status.st_gid != getegid() {
            throw .foreignDirectory(path: path, reason: "the group \(status.st_gid) may write it")
        }
    }

    /// Makes ``root`` refer to the directory that now has the path, unless it already does. Called before a connection
    /// is opened. SQLite opens files by path and this package by descriptor, and both must use the same directory.
    func reopenIfReplaced(createsDirectory: Bool) throws(StoreError) {
        let present = try StoreDirectory(URL(filePath: path), createsDirectory: createsDirectory)
        // The last component may now be a symbolic link, which SQLite is told not to follow.
        guard present.path == path else {
            throw .unusableDirectory(path: path, reason: "a symbolic link has taken its place")
        }
        // The names of created directories must survive a power cut.
        if try root.follow(present.root), !present.parents.isEmpty { try present.syncNames() }
    }

    /// Creates a directory and its parents, as `mkdir -p` does, with mode 0700. Neither a umask nor Foundation's
    /// defaults widen that mode. Returns the parents of the created directories.
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

    /// Syncs the names in this directory, and the names of all created directories, against a power cut.
    func syncNames() throws(StoreError) {
        try root.sync()
        for parent in parents { try FileDescriptor.openDirectory(atPath: parent).sync() }
    }

    /// Whether the last process that used the store closed it. Then SQLite leaves no WAL, or an empty one. A WAL also
    /// exists while another process uses the store.
    var wasShutDown: Bool {
        guard let log = try? root.status(of: "index.sqlite-wal") else { return true }
        return log.size == 0
    }
}
