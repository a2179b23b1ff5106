#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Writes the files of an archive below a directory.
///
/// A file is made only where its name is that of an index or a blob, and by what the name means, never by its text; nothing
/// that is there is opened or replaced.
struct Unpacker {
    /// Whether there was an index.
    private(set) var hasIndex = false

    private let root: FileDescriptor
    private var shardInUse: (name: String, folder: FileDescriptor)?
    private var file: FileDescriptor?

    init(root: FileDescriptor) {
        self.root = root
    }

    mutating func take(_ event: TarReader.Event) throws(StoreError) {
        switch event {
        case .file(let entry): file = try create(entry.name)
        case .bytes(let bytes): try mapping { () throws(SystemError) in try file?.write(bytes) }
        case .endOfFile: file = nil
        }
    }

    private mutating func create(_ name: String) throws(StoreError) -> FileDescriptor {
        let path: (folder: FileDescriptor, name: String)
        if name.utf8.elementsEqual("index.sqlite".utf8) {
            hasIndex = true
            path = (root, "index.sqlite")
        } else {
            guard let blob = BlobPath(relativePath: name) else { throw .archive(.foreignName(name)) }
            path = (try folder(blob.shard), blob.name)
        }
        do throws(SystemError) {
            return try path.folder.open(path.name, O_CREAT | O_EXCL | O_WRONLY)
        } catch {
            throw error.errno == EEXIST ? .archive(.duplicateName(name)) : .file(error)
        }
    }

    /// A folder of blobs, made if it is not there. The last one stays open: an archive has its files in order.
    private mutating func folder(_ shard: String) throws(StoreError) -> FileDescriptor {
        if let shardInUse, shardInUse.name == shard { return shardInUse.folder }
        let folder = try mapping { () throws(SystemError) in
            try root.makeDirectory("blobs")
            let blobs = try root.open("blobs", O_RDONLY | O_DIRECTORY)
            try blobs.makeDirectory(shard)
            return try blobs.open(shard, O_RDONLY | O_DIRECTORY)
        }
        shardInUse = (shard, folder)
        return folder
    }
}

extension BlobPath {
    /// The path of a blob relative to the directory of a store; `nil` for every other text.
    fileprivate init?(relativePath: String) {
        let parts = relativePath.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0].utf8.elementsEqual("blobs".utf8), Self.isShard(parts[1]),
            let digest = Self.digest(shard: parts[1], name: parts[2])
        else { return nil }
        self.init(digest)
    }
}
