internal import CPlatform

/// The file `locks` of a store, opened for the locks of one owner. The file stays empty. Only its bytes are locked, for
/// open file descriptions (`F_OFD_SETLK`, fcntl(2)):
///
///     0 ..< 2^62    key locks, at the checksum of the key
///     2^62          the turnstile of the write lock
///     2^62 + 1      the write lock
///
/// The kernel releases a lock when its process ends. If the file is deleted, the next lock creates a new one. Locks in
/// the old and in the new file do not exclude each other, so no lock here may protect data.
///
/// The folder `Locks/` has the locks between processes: of an open store, of write transactions, of keys and of
/// directories. The folder may use descriptors and, to begin a transaction, a connection. Waits for locks poll. The
/// folder opens no file of SQLite, and reads no row.
package struct LockFile: Sendable {
    private static let name = "locks"

    /// All key locks are below this offset. An off_t ends at 2^63 - 1.
    static let endOfKeys: Int64 = 1 << 62
    package static let turnstile = endOfKeys
    package static let write = endOfKeys + 1

    private struct OpenFile {
        let descriptor: FileDescriptor
        let inode: UInt64
    }

    private let root: FileDescriptor
    private let isReadOnly: Bool
    private var file: OpenFile?

    /// With `isReadOnly`, only tests locks, and does not create a missing file.
    package init(root: FileDescriptor, isReadOnly: Bool = false) {
        self.root = root
        self.isReadOnly = isReadOnly
    }

    /// Opens the file that now has the name, and creates a missing one. Makes one system call if it is already open.
    package mutating func open() -> FileDescriptor? {
        // Compare inodes: after a deletion of the file, other processes lock bytes of a new file.
        if let file, (try? root.status(of: Self.name))?.inode == file.inode { return file.descriptor }
        file = nil
        // A FIFO must not block, and only a regular file has locks. fcntl(2) locks a byte exclusively only through a
        // descriptor that is open for writing.
        let flags = (isReadOnly ? O_RDONLY : O_RDWR | O_CREAT) | O_NONBLOCK
        guard let descriptor = try? root.open(Self.name, flags), let status = try? descriptor.status(), status.isRegular
        else { return nil }
        file = OpenFile(descriptor: descriptor, inode: status.inode)
        return descriptor
    }

    /// Closes the file once no lock uses the descriptor. The caller unlocks its bytes first, because a child process
    /// may have the file open between fork and exec.
    mutating func close() {
        file = nil
    }
}
