import TestSupport

@Suite("Durable blobs")
struct DurableBlobTests {
    let sandbox: BlobSandbox
    let blobs: BlobDirectory
    let body = Data.noise(50_000, seed: 3)
    var path: String { sandbox.path(of: ContentDigest(of: body)) }

    init() throws {
        sandbox = try BlobSandbox()
        blobs = try BlobDirectory(root: sandbox.root, isDurable: true)
    }

    @Test("storing content again replaces its file without reading it; open readers keep the old file")
    func replaced() throws {
        try blobs.store(body)
        let first = try #require(sandbox.inode(of: path))
        let (reader, _) = try #require(try blobs.open(ContentDigest(of: body), byteCount: Int64(body.count)))
        try blobs.store(body)
        #expect(sandbox.inode(of: path) != first)
        #expect(try blobs.stored(body) == body)
        #expect(try Data(contentsOf: reader) == body)
        #expect(sandbox.names(in: "staging") == [])
        #expect(sandbox.names(in: "blobs/" + ContentDigest(of: body).description.prefix(2)).count == 1)
    }

    @Test("a file staged under a name links again, and in a durable store replaces the file", arguments: [false, true])
    func named(isDurable: Bool) throws {
        let blobs = try BlobDirectory(root: sandbox.root, isDurable: isDurable)
        if isDurable { try blobs.store(body) }
        let first = sandbox.inode(of: path)
        do {
            let staged = try StagedFile(namedBelow: blobs.root)
            try body.withUnsafeBytes { (bytes) throws in try staged.descriptor.write(bytes) }
            for _ in 0..<2 {
                try blobs.link(staged, as: ContentDigest(of: body), byteCount: Int64(body.count))
                #expect(sandbox.names(in: "staging").count == 1)
            }
        }
        #expect(sandbox.inode(of: path) != first)
        #expect(try blobs.stored(body) == body)
        #expect(sandbox.names(in: "staging") == [])
    }

    @Test("replaces the remains of a power cut, of the right length, and a link or a FIFO", arguments: 0..<3)
    func remains(kind: Int) throws {
        try blobs.store(body)
        let foreign = sandbox.directory.path + "/foreign"
        try body.write(to: URL(filePath: foreign))
        switch kind {
        case 0: try Data(count: body.count).write(to: URL(filePath: path))
        case 1:
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: foreign)
        default:
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
        }
        try blobs.store(body)
        #expect(try blobs.stored(body) == body)
        #expect(try Data(contentsOf: URL(filePath: foreign)) == body)
    }

    @Test("a relaxed store keeps a file of the right length")
    func kept() throws {
        let relaxed = try BlobDirectory(root: sandbox.root)
        try relaxed.store(body)
        let first = try #require(sandbox.inode(of: path))
        try relaxed.store(body)
        #expect(sandbox.inode(of: path) == first)
        #expect(sandbox.names(in: "staging") == [])
    }
}
