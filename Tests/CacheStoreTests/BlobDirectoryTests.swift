import CacheStore
import CacheStoreTesting
import Foundation
import Testing

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

    var staging: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path + "/staging")) ?? []
    }

    @Test("a file staged under a name is linked like an unnamed one, and leaves nothing in staging/")
    func namedStaging() throws {
        do {
            let staged = try StagedFile(namedBelow: blobs.root)
            try Self.body.withUnsafeBytes { (bytes) throws in try staged.descriptor.write(bytes) }
            #expect(staging.count == 1)
            try blobs.link(staged, as: Self.digest, byteCount: 5)
            try blobs.link(staged, as: Self.digest, byteCount: 5)
        }
        #expect(staging == [])
        let (descriptor, status) = try #require(try blobs.open(Self.digest, byteCount: 5))
        #expect(status.size == 5)
        #expect(descriptor.path.hasSuffix("/blobs/2c/\(Self.digest.description.dropFirst(2))"))
    }

    @Test("a staged file is locked while its writer lives, so that no sweep deletes it")
    func stagingIsLocked() throws {
        let staged = try StagedFile(namedBelow: blobs.root)
        let other = open(staged.descriptor.path, O_RDONLY)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == -1)
        #expect(errno == EWOULDBLOCK)
    }

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
