internal import CacheFoundation
internal import CPlatform

/// An open file, closed when the last reference is released. Wraps the system calls that the store needs. Repeats a
/// call that a signal interrupts. An error contains the name of the call, the path and the error number.
package final class FileDescriptor: Sendable {
    let number: Int32
    private let directory: String
    private let name: String

    /// Wraps the open file `name` in `directory`, or `directory` itself if `name` is empty. Joins both for ``path``.
    init(number: Int32, directory: String, name: String) {
        self.number = number
        self.directory = directory
        self.name = name
    }

    /// The path at the time of opening. The file may have another name by now, or none.
    package var path: String { name.isEmpty ? directory : directory + "/" + name }

    deinit {
        close(number)
    }

    /// Opens `name` below this directory without following a link in its last component.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) throws(StoreError) -> FileDescriptor {
        let opened = try Self.retrying("openat", path + "/" + name) {
            cplatform_open(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        }
        // Join the names of a directory now, because every file below it needs the path.
        return flags & O_DIRECTORY != 0
            ? FileDescriptor(number: opened, directory: path + "/" + name, name: "")
            : FileDescriptor(number: opened, directory: path, name: name)
    }

    /// Opens `name` like ``open(_:_:mode:)``. Returns `nil` for a missing file.
    func openIfPresent(_ name: String, _ flags: Int32) throws(StoreError) -> FileDescriptor? {
        do {
            return try open(name, flags)
        } catch let error where error.meansMissing {
            return nil
        }
    }

    /// Opens the file at `path`, a directory and a name below this directory, for reading. Follows no link. Takes one
    /// system call where the system supports it.
    func openBeneath(_ path: String) throws(StoreError) -> FileDescriptor {
        let opened = try Self.retrying("openat", self.path + "/" + path) { cplatform_open_beneath(number, path) }
        return FileDescriptor(number: opened, directory: self.path, name: path)
    }

    /// Opens a new file without a name in the file system of this directory. Throws if the system has no such files.
    func openUnnamed() throws(StoreError) -> FileDescriptor {
        let opened = try Self.retrying("openat", path) { cplatform_open_unnamed(number) }
        return FileDescriptor(number: opened, directory: path, name: ".")
    }

    /// Opens a directory by its path. The path itself may lead through links.
    package static func openDirectory(atPath path: String) throws(StoreError) -> FileDescriptor {
        let opened = try retrying("open", path) {
            cplatform_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        return FileDescriptor(number: opened, directory: path, name: "")
    }

    /// Makes this object refer to the file of `present`. Returns `false` if it already did. Calls that other threads
    /// have begun end on the former file. Its locks are released.
    func follow(_ present: FileDescriptor) throws(StoreError) -> Bool {
        guard try FileIdentity(present.status()) != FileIdentity(status()) else { return false }
        try Self.retrying("dup2", path) { cplatform_replace(present.number, number) }
        return true
    }

    /// Creates a directory that only its owner may enter. Leaves an existing directory as it is.
    func makeDirectory(_ name: String) throws(StoreError) {
        do {
            try Self.retrying("mkdirat", path + "/" + name) { mkdirat(number, name, 0o700) }
        } catch let error where error.errno == EEXIST {}
    }

    /// Removes a name. Returns `false` if it was missing.
    @discardableResult
    func unlink(_ name: String) throws(StoreError) -> Bool {
        do {
            try Self.retrying("unlinkat", path + "/" + name) { cplatform_unlink(number, name) }
            return true
        } catch let error where error.errno == ENOENT {
            return false
        }
    }

    /// Removes the file or directory `name`. Returns `false` if it was missing. Renames a directory that is not empty,
    /// because its contents do not belong to the store.
    func remove(_ name: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try unlink(name)
        } catch let error where [EISDIR, EPERM].contains(error.errno) {
            // POSIX specifies EPERM for a directory, Linux returns EISDIR.
            guard try status(of: name)?.isDirectory == true else { throw error }
        }
        do throws(StoreError) {
            try Self.retrying("unlinkat", path + "/" + name) { unlinkat(number, name, AT_REMOVEDIR) }
        } catch let error where [ENOTEMPTY, EEXIST].contains(error.errno) {
            try rename(name, to: "\(name).quarantined-" + String(UInt64.random(in: .min ... .max), radix: 36))
        }
        return true
    }

    /// The type, size and identity of the file.
    package func status() throws(StoreError) -> FileStatus {
        var buffer = stat()
        try Self.retrying("fstat", path) { fstat(number, &buffer) }
        return FileStatus(buffer)
    }

    /// Returns the status of `name` in this directory without following a link, or `nil` for a missing file.
    func status(of name: String) throws(StoreError) -> FileStatus? {
        var buffer = stat()
        do {
            try Self.retrying("fstatat", path + "/" + name) { fstatat(number, name, &buffer, AT_SYMLINK_NOFOLLOW) }
        } catch let error where error.meansMissing {
            return nil
        }
        return FileStatus(buffer)
    }

    /// Returns the number of free bytes on the file system. A quota may allow this user fewer.
    func freeByteCount() throws(StoreError) -> Int64 {
        var buffer = statvfs()
        try Self.retrying("fstatvfs", path) { fstatvfs(number, &buffer) }
        let (byteCount, isOver) = UInt64(buffer.f_bavail).multipliedReportingOverflow(by: UInt64(buffer.f_frsize))
        return isOver ? .max : Int64(clamping: byteCount)
    }

    /// Returns the size of the volume of a directory, or of the nearest directory above it that exists.
    static func volumeByteCount(ofNearest directory: URL) throws(StoreError) -> Int64 {
        var url = directory.standardizedFileURL
        var buffer = statvfs()
        while true {
            let path = url.path(percentEncoded: false)
            do {
                try retrying("statvfs", path) { statvfs(path, &buffer) }
                break
            } catch let error where error.meansMissing && path != "/" {
                url.deleteLastPathComponent()
            }
        }
        let (byteCount, isOver) = UInt64(buffer.f_blocks).multipliedReportingOverflow(by: UInt64(buffer.f_frsize))
        return isOver ? .max : Int64(clamping: byteCount)
    }

    /// The most bytes of one call. Darwin refuses more than `Int32.max`, Linux transfers no more. Tests refuse more.
    package static let maxCallByteCount = 16 << 20

    /// Writes all of `bytes` after the bytes written before.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = try Self.retrying("write", path) {
                cplatform_write(number, rest.baseAddress, min(rest.count, Self.maxCallByteCount))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(written)...])
        }
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            written += try Self.retrying("pwrite", path) {
                cplatform_pwrite(
                    number, rest.baseAddress, min(rest.count, Self.maxCallByteCount), offset + Int64(written))
            }
        }
    }

    /// Renames `name` in this directory. Does nothing if it is missing.
    func rename(_ name: String, to other: String) throws(StoreError) {
        do {
            try Self.retrying("renameat", path + "/" + name) { renameat(number, name, number, other) }
        } catch let error where error.errno == ENOENT {}
    }

    /// Writes a copy of the bytes of `file` from `start` to `byteCount` after the bytes written before. Returns `false`
    /// if `file` is shorter, or if `isCancelled`, called before each chunk of 256 KiB, returns `true`.
    func write(
        _ file: FileDescriptor, from start: Int64 = 0, byteCount: Int64, isCancelled: () -> Bool = { false }
    ) throws(StoreError) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 16)
        defer { buffer.deallocate() }
        var offset = start
        while offset < byteCount {
            if isCancelled() { return false }
            let rest = Int(min(byteCount - offset, Int64(buffer.count)))
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<rest]), at: offset)
            guard count > 0 else { return false }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return true
    }

    /// Moves `name` from this directory to `directory` as `other`, and replaces an existing file.
    func rename(_ name: String, to other: String, in directory: FileDescriptor) throws(StoreError) {
        try Self.retrying("renameat", directory.path + "/" + other) {
            renameat(number, name, directory.number, other)
        }
    }

    /// Marks a growing or a whole body with the owner's execute permission, if the file system has permissions.
    func mark(mayGrow: Bool) {
        _ = fchmod(number, mayGrow ? 0o700 : 0o600)
    }

    /// Returns once the bytes of the file, or the names in the directory, are on the disk. Ignores directories on file
    /// systems that cannot sync them.
    func sync() throws(StoreError) {
        // On Darwin, fsync(2) leaves the bytes in the cache of the drive. SMB and exFAT support only fsync(2), and so
        // do other systems.
        let fully = { [number] in cplatform_full_sync(number) }
        let plainly = { [number] in fsync(number) }
        try Self.sync(
            path, isDirectory: { (try? status().isDirectory) == true },
            ways: [("fcntl", fully), ("fsync", plainly)])
    }

    /// Calls each of `ways` until one of them is supported.
    package static func sync(
        _ path: @autoclosure () -> String, isDirectory: () -> Bool, ways: [(name: StaticString, call: () -> Int32)]
    ) throws(StoreError) {
        var refusal: StoreError?
        for way in ways {
            do throws(StoreError) {
                try retrying(way.name, path(), way.call)
                return
            } catch let error where [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY].contains(error.errno) {
                refusal = error
            }
        }
        if let refusal, !isDirectory() { throw refusal }
    }

    /// Locks the file with flock(2): exclusively, or shared with `LOCK_SH`. The lock belongs to this open file
    /// description. Returns `false` if a conflicting lock exists. Never blocks.
    func tryLock(_ operation: Int32 = LOCK_EX) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try Self.retrying("flock", path) { flock(number, operation | LOCK_NB) }
            return true
        } catch let error where error.errno == EWOULDBLOCK {
            return false
        }
    }

    /// Unlocks the file after ``tryLock(_:)``.
    func unlock() {
        flock(number, LOCK_UN)
    }

    /// Locks the byte at `offset` for this open file description. Returns `false` if another one has locked it. Never
    /// blocks. The lock ends with the last descriptor of the open file description; a child process has one between
    /// fork and exec.
    package func tryLockByte(at offset: Int64) throws(StoreError) -> Bool {
        try tryLockBytes(at: offset, count: 1)
    }

    /// Locks `count` bytes, all or none. Returns `false` if another open file description locks one. Never blocks.
    func tryLockBytes(at offset: Int64, count: Int64) throws(StoreError) -> Bool {
        do {
            try Self.retrying("fcntl", path) { cplatform_lock_bytes(number, offset, count) }
            return true
        } catch let error where error.errno == EAGAIN {
            return false
        }
    }

    package func unlockByte(at offset: Int64) {
        _ = cplatform_unlock_byte(number, offset)
    }

    /// Whether another open file description has locked the byte at `offset`.
    package func isByteLocked(at offset: Int64) throws(StoreError) -> Bool {
        try Self.retrying("fcntl", path) { cplatform_is_byte_locked(number, offset) } == 1
    }

    /// Returns a range of bytes in `range` that another open file description has locked, or `nil`.
    func lockedBytes(in range: Range<Int64>) throws(StoreError) -> Range<Int64>? {
        var (first, count) = (range.lowerBound, range.upperBound - range.lowerBound)
        let found = try Self.retrying("fcntl", path) { cplatform_find_locked_bytes(number, &first, &count) }
        guard found == 1 else { return nil }
        // A length of 0 reaches to the end of the file.
        return first..<(count == 0 ? .max : max(first, first.addingReportingOverflow(count).partialValue))
    }

    /// Truncates the file to `byteCount` bytes. The next write continues there.
    func truncate(to byteCount: Int64) throws(StoreError) {
        try Self.retrying("lseek", path) { lseek(number, off_t(byteCount), SEEK_SET) }
        try Self.retrying("ftruncate", path) { ftruncate(number, off_t(byteCount)) }
    }

    /// Reads up to `buffer.count` bytes from `offset`. Returns fewer only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try Self.retrying("pread", path) {
                cplatform_pread(
                    number, rest.baseAddress, min(rest.count, Self.maxCallByteCount), offset + Int64(filled))
            }
            if count == 0 { break }
            filled += Int(count)
        }
        return filled
    }

    /// Returns the names in this directory, except `.` and `..`, in no particular order.
    func names() throws(StoreError) -> [String] {
        // Open the directory again: reading moves the offset of the open file description, which callers share.
        let opened = try Self.retrying("openat", path) {
            cplatform_open(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard let stream = fdopendir(opened) else {
            let code = errno
            close(opened)
            throw .file(SystemError(call: "fdopendir", path: path, errno: code))
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Repeats `call` while signals interrupt it. Throws if the call returns -1.
    @discardableResult
    static func retrying<Value: BinaryInteger>(
        _ name: StaticString, _ path: @autoclosure () -> String, _ call: () -> Value
    ) throws(StoreError) -> Value {
        while true {
            let result = call()
            if result != -1 { return result }
            // Read `errno` first, because later calls may change it.
            let code = errno
            if code != EINTR { throw .file(SystemError(call: "\(name)", path: path(), errno: code)) }
        }
    }
}

/// The type, size and identity of a file.
package struct FileStatus {
    package let isRegular: Bool
    let isDirectory: Bool
    package let size: Int64
    let linkCount: UInt64
    package let inode: UInt64
    let device: UInt64
    /// The user that the file belongs to.
    let owner: UInt32
    /// Whether a writer marked the file as the beginning of a body; see ``FileDescriptor/mark(mayGrow:)``.
    let mayGrow: Bool
    /// The time of the last write, in nanoseconds since 1970.
    let modified: Int64
    /// The time of the last write, link or rename, in nanoseconds since 1970.
    let changed: Int64

    init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        size = Int64(status.st_size)
        linkCount = UInt64(status.st_nlink)
        inode = UInt64(status.st_ino)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        owner = status.st_uid
        mayGrow = status.st_mode & mode_t(S_IXUSR) != 0
        #if canImport(Darwin)
        let (writing, changing) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (writing, changing) = (status.st_mtim, status.st_ctim)
        #endif
        modified = Int64(writing.tv_sec) &* 1_000_000_000 &+ Int64(writing.tv_nsec)
        changed = Int64(changing.tv_sec) &* 1_000_000_000 &+ Int64(changing.tv_nsec)
    }

    /// Whether both describe the same file, without a write in between.
    func isSameFile(as other: FileStatus?) -> Bool {
        (inode, device, size, modified) == other.map { ($0.inode, $0.device, $0.size, $0.modified) } ?? (0, 0, -1, 0)
    }
}
