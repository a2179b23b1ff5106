import TestSupport

@Suite("BlobDirectory")
struct BlobDirectoryTests {
    let directory: TemporaryDirectory
    let blobs: BlobDirectory

    init() throws {
        directory = try TemporaryDirectory()
        blobs = try BlobDirectory(root: FileDescriptor.openDirectory(atPath: directory.path))
    }

    static let body = Data("hello".utf8)
    static let digest = ContentDigest(of: body)

    @Test("finds a file only by digest and length")
    func found() throws {
        let staged = try blobs.stage()
        try Self.body.withUnsafeBytes { (bytes) throws in try staged.descriptor.write(bytes) }
        #expect(try blobs.open(Self.digest, byteCount: 5) == nil)
        try blobs.link(staged, as: Self.digest, byteCount: 5)
        #expect(try blobs.open(Self.digest, byteCount: 5) != nil)
        #expect(try blobs.open(Self.digest, byteCount: 4) == nil)
        #expect(try blobs.open(Self.digest, byteCount: -1) == nil)
        #expect(try blobs.open(ContentDigest(of: Data()), byteCount: 0) == nil)
        #expect(try blobs.status(of: Self.digest)?.isRegular == true)
        #expect(try blobs.unlink(Self.digest))
        #expect(try !blobs.unlink(Self.digest))
        #expect(try blobs.status(of: Self.digest) == nil)
    }
}
