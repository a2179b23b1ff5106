#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CSQLite
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The directory of a store, found or made, and its index opened.
struct StoreDirectory {
    /// Without symbolic links, which SQLite is told not to follow.
    let path: String
    let root: FileDescriptor

    var indexPath: String { path + "/index.sqlite" }

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
        if createsDirectory { try Self.makeDirectories(given) }
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

    /// `mkdir -p` with mode 0700, which neither a umask nor Foundation's defaults widen.
    private static func makeDirectories(_ path: String) throws(StoreError) {
        var partial = path.hasPrefix("/") ? "/" : ""
        for component in path.split(separator: "/") {
            partial += component
            if mkdir(partial, 0o700) != 0 {
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
    }

    /// Whether the last process to use the store closed it: SQLite then leaves no log. While another process uses the store
    /// it has a log, too.
    var wasShutDown: Bool {
        guard let log = try? root.status(of: "index.sqlite-wal") else { return true }
        return log.size == 0
    }

    /// The writer's connection, with the index made and brought up to date.
    func openIndex(busyTimeout: Duration) throws(StoreError) -> Connection {
        do {
            let existing = try root.status(of: "index.sqlite")
            if let existing, !existing.isRegular {
                throw StoreError.notAnIndex(path: indexPath, reason: "it is not a regular file")
            }
            if existing == nil { try createIndex() }
            let connection = try Connection(path: indexPath, role: .writer, busyTimeout: busyTimeout)
            try Migrator(path: indexPath).migrate(connection)
            return connection
        } catch StoreError.index(let error) {
            throw refused(error)
        } catch let error as StoreError {
            throw error
        } catch let error as SQLiteError {
            throw refused(error)
        } catch {
            throw .unusableDirectory(path: path, reason: "\(error)")
        }
    }

    /// An empty file, for its owner only: SQLite would let others read it, and gives the log the same permissions.
    ///
    /// Made under another name and linked: were the index itself opened and closed here, POSIX would release the locks of
    /// every connection that this process has to it (https://sqlite.org/howtocorrupt.html §2.2).
    private func createIndex() throws(SystemError) {
        let name = "index.new-" + String(UInt64.random(in: .min ... .max), radix: 36)
        _ = try root.open(name, O_CREAT | O_EXCL | O_RDWR)
        defer { _ = try? root.unlink(name) }
        do {
            try FileDescriptor.retrying("linkat", indexPath) {
                linkat(root.number, name, root.number, "index.sqlite", 0)
            }
        } catch let error where error.errno == EEXIST {}
    }

    /// What a failure to open the index means to the caller.
    private func refused(_ error: SQLiteError) -> StoreError {
        switch error.code {
        case SQLITE_NOTADB, SQLITE_CORRUPT: .notAnIndex(path: indexPath, reason: error.message)
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL, SQLITE_PERM:
            .unusableDirectory(path: path, reason: error.message)
        default: error.isBusy ? .busy(path: indexPath) : .index(error)
        }
    }
}
