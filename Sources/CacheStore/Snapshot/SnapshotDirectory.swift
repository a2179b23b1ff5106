internal import CPlatform
internal import CacheFoundation

/// The directory that a snapshot fills. Holds the exclusive lock that openers of a store take: until the snapshot is
/// complete, other openers and other snapshots fail. Unless ``finish()`` was called, releasing the last reference
/// deletes the contents of the directory and the directories created for it.
final class SnapshotDirectory {
    let isDurable: Bool
    var root: FileDescriptor { place.root }
    /// The path of the index until ``finish()``.
    var indexPath: String { place.path + "/" + Self.temporaryName }

    /// After a kill, a store that is opened here sweeps names with this prefix.
    private static let temporaryName = "index.new-snapshot"

    private let place: StoreDirectory
    private let lock: DirectoryLock
    private let created: CreatedDirectories
    /// Whether everything in the directory is of this snapshot.
    private var isOwner = false

    /// Creates the directory at `url`, or uses an empty one.
    init(at url: URL, isDurable: Bool) throws(StoreError) {
        self.isDurable = isDurable
        created = CreatedDirectories(leadingTo: url)
        place = try StoreDirectory(url, createsDirectory: true)
        try Self.checkEmpty(place)
        let isAlone: Bool
        do throws(StoreError) {
            lock = try DirectoryLock(".", below: place.root)
            isAlone = try lock.tryExclusive()
        } catch {
            throw .unusableDirectory(path: place.path, reason: error.cause)
        }
        guard isAlone else {
            throw .unusableDirectory(path: place.path, reason: "a store or another snapshot has it open")
        }
        // Check again under the lock, because another process may have been faster.
        try Self.checkEmpty(place)
        isOwner = true
        // SQLite fills this empty file. If SQLite created the file itself, other users could read it.
        _ = try place.root.open(Self.temporaryName, O_CREAT | O_EXCL | O_RDWR)
    }

    private static func checkEmpty(_ place: StoreDirectory) throws(StoreError) {
        guard try place.root.names().isEmpty else {
            throw .unusableDirectory(
                path: place.path,
                reason: "it is not empty; choose a new directory, or remove the remains of an earlier snapshot")
        }
    }

    /// Gives the index its name, which makes the directory a store.
    func finish() throws(StoreError) {
        if isDurable { try root.open(Self.temporaryName, O_RDONLY).sync() }
        // This overload fails if another program has deleted the index.
        try root.rename(Self.temporaryName, to: "index.sqlite", in: root)
        if isDurable { try place.syncNames() }
        isOwner = false
        created.keep()
    }

    deinit {
        // An initializer that throws ends here, too: it may have found the files of another process.
        guard isOwner else { return }
        // Delete the index first, so that a kill in between leaves no store without its bodies. Under the lock, no file
        // here belongs to another process.
        for name in ["index.sqlite", Self.temporaryName, Self.temporaryName + "-journal"] {
            _ = try? root.unlink(name)
        }
        try? FileManager.default.removeItem(atPath: place.path + "/blobs")
    }
}

/// The missing directories on a path. Releasing the last reference removes them, unless ``keep()`` was called.
private final class CreatedDirectories {
    /// The innermost directory first.
    private var paths: [String] = []

    /// Called before the directories are created.
    init(leadingTo url: URL) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        var status = stat()
        while !path.isEmpty, lstat(path, &status) != 0, errno == ENOENT {
            paths.append(path)
            let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
            path = String(parent)
        }
    }

    func keep() {
        paths = []
    }

    deinit {
        // rmdir(2) keeps a directory in which another process has created a file.
        for path in paths { rmdir(path) }
    }
}
