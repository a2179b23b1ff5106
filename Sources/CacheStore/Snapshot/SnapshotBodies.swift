internal import CPlatform
internal import CSQLite

/// Links the files of a snapshot's bodies where the file system allows it, and otherwise copies them. A link is safe
/// because no store changes bytes that a row names: stores only link, read and unlink files, and append to the file of
/// a part. Each step down starts at an open directory and follows no link.
struct SnapshotBodies {
    enum Outcome {
        case linked, copied
        /// The store has no such file, or its length is wrong.
        case missing
    }

    private let source: FileDescriptor
    private let target: FileDescriptor
    private let isDurable: Bool
    private let interruption: InterruptFlag
    /// The directories of the last body. `source` is `nil` without such a directory in the store.
    private var shard: (name: String, source: FileDescriptor?, target: FileDescriptor)?

    /// `root` is the directory of the store, `targetRoot` that of the snapshot, in which `blobs/` is created. With
    /// `isDurable`, files and names survive a power cut after ``finish()``.
    init(
        from root: FileDescriptor, to targetRoot: FileDescriptor, isDurable: Bool, _ interruption: InterruptFlag
    ) throws(StoreError) {
        self.isDurable = isDurable
        self.interruption = interruption
        try targetRoot.makeDirectory("blobs")
        source = try root.open("blobs", O_RDONLY | O_DIRECTORY)
        target = try targetRoot.open("blobs", O_RDONLY | O_DIRECTORY)
    }

    /// Links or copies the file of a digest.
    mutating func add(_ digest: ContentDigest, byteCount: Int64, isPart: Bool) throws(StoreError) -> Outcome {
        try checkInterruption()
        let path = BlobPath(digest)
        let (source, target) = try enter(path.shard)
        guard let source else { return .missing }
        if try link(path.name, source, target) {
            let status = try target.status(of: path.name)
            if let status, status.hasBody(of: byteCount, isPart: isPart) { return .linked }
            // The file is incomplete, or another program has created a link or directory of that name.
            _ = try target.unlink(path.name)
            return .missing
        }
        return try copy(path.name, byteCount, isPart: isPart, source, target) ? .copied : .missing
    }

    /// Removes the file of a digest from the snapshot. Returns its status before, or `nil` without such a file.
    mutating func remove(_ digest: ContentDigest) throws(StoreError) -> FileStatus? {
        let path = BlobPath(digest)
        let (_, target) = try enter(path.shard)
        let status = try target.status(of: path.name)
        return try target.unlink(path.name) ? status : nil
    }

    /// Syncs the last directories of a durable snapshot. Called after the last body.
    func finish() throws(StoreError) {
        guard isDurable else { return }
        try shard?.target.sync()
        try target.sync()
    }

    private mutating func enter(
        _ name: String
    ) throws(StoreError) -> (source: FileDescriptor?, target: FileDescriptor) {
        if let shard, shard.name == name { return (shard.source, shard.target) }
        if isDurable { try shard?.target.sync() }
        try target.makeDirectory(name)
        let entered = (
            name: name, source: try source.openIfPresent(name, O_RDONLY | O_DIRECTORY),
            target: try target.open(name, O_RDONLY | O_DIRECTORY)
        )
        shard = entered
        return (entered.source, entered.target)
    }

    /// Whether the file was linked. Otherwise it is missing, or the file system allows no link.
    private func link(_ name: String, _ source: FileDescriptor, _ target: FileDescriptor) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try FileDescriptor.retrying("linkat", target.path + "/" + name) {
                linkat(source.number, name, target.number, name, 0)
            }
            return true
        } catch {
            // EPERM: FAT has no links, and Linux allows no links to files of other users. EMLINK: ext4 allows 65,000
            // for each file.
            guard [ENOENT, EXDEV, EPERM, EMLINK, ENOTSUP, EOPNOTSUPP].contains(error.errno) else { throw error }
            return false
        }
    }

    /// Whether a file of that length was copied.
    private func copy(
        _ name: String, _ byteCount: Int64, isPart: Bool, _ source: FileDescriptor, _ target: FileDescriptor
    ) throws(StoreError) -> Bool {
        // O_NONBLOCK: opening a FIFO must not wait for its writer.
        guard let opened = try source.openIfPresent(name, O_RDONLY | O_NONBLOCK),
            try opened.status().hasBody(of: byteCount, isPart: isPart)
        else { return false }
        if cplatform_clone_file(opened.number, target.number, name) != 0 {
            guard try copyBytes(of: opened, byteCount, name, target) else {
                _ = try target.unlink(name)
                return false
            }
        }
        if isDurable { try target.open(name, O_RDONLY).sync() }
        return true
    }

    /// Whether the file had all the bytes.
    private func copyBytes(
        of file: FileDescriptor, _ byteCount: Int64, _ name: String, _ target: FileDescriptor
    ) throws(StoreError) -> Bool {
        let copy = try target.open(name, O_CREAT | O_EXCL | O_WRONLY)
        let isWhole = try copy.write(file, byteCount: byteCount) { interruption.isSet }
        try checkInterruption()
        return isWhole
    }

    private func checkInterruption() throws(StoreError) {
        // The same error as an interrupted statement.
        guard !interruption.isSet else {
            throw .index(SQLiteError(extendedCode: SQLITE_INTERRUPT, message: "interrupted"))
        }
    }
}
