#if os(Linux)
import TestSupport

@Suite("Files without a name", .enabled(if: !DarwinPaths.areForced, "Darwin has no such files"))
struct UnnamedFileTests {
    let sandbox: BlobSandbox
    let body = Data.noise(700_000, seed: 5)

    init() throws { sandbox = try BlobSandbox() }

    @Test(
        "if an unnamed file cannot be linked, a named copy is, and later files have a name from the start",
        arguments: [false, true])
    func copied(isDurable: Bool) throws {
        let blobs = try BlobDirectory(root: sandbox.root, isDurable: isDurable, linksUnnamedFiles: false)
        do {
            let staged = try blobs.stage(body)
            #expect(sandbox.names(in: "staging") == [])
            try blobs.link(staged, as: ContentDigest(of: body), byteCount: Int64(body.count))
            #expect(try blobs.stored(body) == body)
            // A repeated commit has removed the name in between.
            try blobs.unlink(ContentDigest(of: body))
            try blobs.link(staged, as: ContentDigest(of: body), byteCount: Int64(body.count))
            try blobs.link(staged, as: ContentDigest(of: body), byteCount: Int64(body.count))
            #expect(try blobs.stored(body) == body)
        }
        #expect(sandbox.names(in: "staging") == [])
        let next = try blobs.stage(Data("next".utf8))
        #expect(sandbox.names(in: "staging").count == 1)
        try blobs.link(next, as: ContentDigest(of: Data("next".utf8)), byteCount: 4)
        #expect(try blobs.stored(Data("next".utf8)) == Data("next".utf8))
    }

    @Test("an error of the shard is thrown, and later files are still staged without a name")
    func missingShard() throws {
        let blobs = try BlobDirectory(root: sandbox.root)
        try blobs.store(body)
        let staged = try blobs.stage(body)
        try blobs.link(staged, as: ContentDigest(of: Data("a".utf8)), byteCount: Int64(body.count))
        try blobs.unlink(ContentDigest(of: Data("a".utf8)))
        // The kernel never names such a file again.
        #expect(throws: StoreError.self) {
            try blobs.link(staged, as: ContentDigest(of: Data("b".utf8)), byteCount: Int64(body.count))
        }
        let next = try blobs.stage(Data("next".utf8))
        #expect(sandbox.names(in: "staging") == [])
        _ = consume next
    }

    // MARK: Without /proc

    /// Continuous integration runs these tests or fails. Elsewhere they are skipped if mounting is not permitted.
    private static let runs = Namespace.isPermitted || ProcessInfo.processInfo.environment["CI"] == "true"

    @Test(
        "stores a body where /proc is not mounted, and where the process may not link by descriptor",
        .enabled(if: Self.runs, "needs the right to unmount /proc"), arguments: [true, false])
    func withoutProc(keepsPrivileges: Bool) async throws {
        try #require(Namespace.isPermitted, "CI must run this test with the right to unmount /proc")
        await #expect(processExitsWith: .success) {
            [path = sandbox.directory.path as String, keepsPrivileges = keepsPrivileges as Bool] in
            try Self.store(below: path, keepsPrivileges: keepsPrivileges)
        }
        #expect(try BlobDirectory(root: sandbox.root).stored(body) == body)
        #expect(sandbox.names(in: "staging") == [])
    }

    @Test("a store works where /proc is not mounted", .enabled(if: Self.runs, "needs the right to unmount /proc"))
    func storeWithoutProc() async throws {
        try #require(Namespace.isPermitted, "CI must run this test with the right to unmount /proc")
        let sandbox = Sandbox()
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try Self.fillStore(at: path)
        }
        let store = try sandbox.open()
        #expect(try store.bytes(.path("a")) == body)
        #expect(try store.bytes(.path("b")) == body)
        #expect(try await store.check(digests: true).isSound)
    }

    /// Affects only the calling thread, which gets a separate mount namespace.
    private static func store(below path: String, keepsPrivileges: Bool) throws {
        let test = try UnnamedFileTests()
        let root = try FileDescriptor.openDirectory(atPath: path)
        let blobs = try BlobDirectory(root: root)
        let staged = try blobs.stage(test.body)
        try Namespace.unmountProc()
        if !keepsPrivileges {
            // A file opened with other credentials can be linked by its descriptor only with CAP_DAC_READ_SEARCH.
            for folder in ["", "/blobs"] { precondition(chown(path + folder, 65_534, 65_534) == 0) }
            precondition(setuid(65_534) == 0)
        }
        try blobs.link(staged, as: ContentDigest(of: test.body), byteCount: Int64(test.body.count))
    }

    private static func fillStore(at path: String) throws {
        try Namespace.unmountProc()
        let body = try UnnamedFileTests().body
        let store = try ResponseStore(directory: URL(filePath: path))
        for name in ["a", "b"] { try store.insert(body, metadata: .now, for: .path(name)) }
        store.close()
    }
}

/// A mount namespace of the calling thread.
private enum Namespace {
    /// Whether this process may create a mount namespace. Tries it on a separate thread, so that no other thread is
    /// affected.
    static let isPermitted: Bool = {
        nonisolated(unsafe) var isPermitted = false
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            isPermitted = (try? unmountProc()) != nil
            finished.signal()
        }
        finished.wait()
        return isPermitted
    }()

    /// Unmounts /proc for the calling thread, and for threads that it starts.
    static func unmountProc() throws {
        // Swift does not import unshare(2), which the headers declare only for _GNU_SOURCE.
        typealias Unshare = @convention(c) (Int32) -> Int32
        let newMountNamespace: Int32 = 0x0002_0000
        guard let symbol = dlsym(nil, "unshare"), unsafeBitCast(symbol, to: Unshare.self)(newMountNamespace) == 0,
            mount(nil, "/", nil, UInt(MS_REC) | UInt(MS_PRIVATE), nil) == 0, umount2("/proc", Int32(MNT_DETACH)) == 0,
            !FileManager.default.fileExists(atPath: "/proc/self")
        else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
    }
}
#endif
