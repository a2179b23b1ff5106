import TestSupport

/// The files of a store without its index.
struct BlobSandbox {
    let directory: TemporaryDirectory
    let root: FileDescriptor

    init() throws {
        directory = try TemporaryDirectory()
        root = try FileDescriptor.openDirectory(atPath: directory.path)
    }

    /// The path of the file of a digest.
    func path(of digest: ContentDigest) -> String {
        let digits = digest.description
        return directory.path + "/blobs/\(digits.prefix(2))/\(digits.dropFirst(2))"
    }

    /// The names in a folder of the store; empty if the folder does not exist.
    func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path + "/" + folder)) ?? []
    }

    /// The inode of a file, or `nil` if the file does not exist.
    func inode(of path: String) -> UInt64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}

extension BlobDirectory {
    /// A new file that holds `body`.
    func stage(_ body: Data) throws -> StagedFile {
        let staged = try stage()
        try body.withUnsafeBytes { (bytes) throws in try staged.descriptor.write(bytes) }
        return staged
    }

    /// Stores `body` under its digest.
    func store(_ body: Data) throws { try link(stage(body), as: ContentDigest(of: body), byteCount: Int64(body.count)) }

    /// The bytes under the digest of `body`, or `nil` without a file of that length.
    func stored(_ body: Data) throws -> Data? {
        try open(ContentDigest(of: body), byteCount: Int64(body.count)).map { try Data(contentsOf: $0.0) }
    }
}

extension Data {
    /// All bytes of an open file.
    init(contentsOf descriptor: FileDescriptor) throws {
        var bytes = [UInt8](repeating: 0, count: Int(try descriptor.status().size))
        let count = try bytes.withUnsafeMutableBytes { (buffer) throws in try descriptor.read(into: buffer, at: 0) }
        self.init(bytes.prefix(count))
    }
}
