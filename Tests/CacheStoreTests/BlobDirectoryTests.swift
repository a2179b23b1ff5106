import TestSupport

@Suite("BlobDirectory")
struct BlobDirectoryTests {
    let sandbox: BlobSandbox

    init() throws { sandbox = try BlobSandbox() }

    @Test("finds a file only by digest and length")
    func found() throws {
        let blobs = try BlobDirectory(root: sandbox.root)
        let digest = ContentDigest(of: Data("hello".utf8))
        let staged = try blobs.stage(Data("hello".utf8))
        #expect(try blobs.open(digest, byteCount: 5) == nil)
        try blobs.link(staged, as: digest, byteCount: 5)
        #expect(try blobs.open(digest, byteCount: 5) != nil)
        #expect(try blobs.open(digest, byteCount: 4) == nil)
        #expect(try blobs.open(digest, byteCount: -1) == nil)
        #expect(try blobs.open(ContentDigest(of: Data()), byteCount: 0) == nil)
        #expect(try blobs.status(of: digest)?.isRegular == true)
        #expect(try blobs.unlink(digest))
        #expect(try !blobs.unlink(digest))
        #expect(try blobs.status(of: digest) == nil)
    }
}
