import TestSupport

@Suite("Fallbacks for an unsupported full sync")
struct SyncFallbackTests {
    /// A call that fails with each error of a list in turn, then succeeds.
    private final class Call {
        private var errors: [Int32]
        private(set) var count = 0

        init(_ errors: Int32...) { self.errors = errors }

        func make() -> Int32 {
            count += 1
            guard !errors.isEmpty else { return 0 }
            errno = errors.removeFirst()
            return -1
        }
    }

    @Test("an unsupported full sync is followed by a plain one", arguments: Set([ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY]))
    func unsupported(error: Int32) throws {
        let (full, plain) = (Call(error), Call())
        try FileDescriptor.sync("file", isDirectory: { false }, ways: [("full", full.make), ("plain", plain.make)])
        #expect((full.count, plain.count) == (1, 1))
    }

    @Test("a successful full sync is enough, even after interruptions by signals")
    func supported() throws {
        let (full, plain) = (Call(EINTR, EINTR), Call())
        try FileDescriptor.sync("file", isDirectory: { false }, ways: [("full", full.make), ("plain", plain.make)])
        #expect((full.count, plain.count) == (3, 0))
    }

    @Test("a disk error does not count as missing support", arguments: [EIO, ENOSPC, EDQUOT])
    func failed(error: Int32) {
        let (full, plain) = (Call(error), Call())
        let thrown = #expect(throws: StoreError.self) {
            try FileDescriptor.sync("file", isDirectory: { true }, ways: [("full", full.make), ("plain", plain.make)])
        }
        #expect(thrown?.system?.errno == error)
        #expect(thrown?.system?.call == "full")
        #expect(plain.count == 0)
    }

    @Test("a file that cannot be synced throws; a directory is left to the file system")
    func nothingSupported() throws {
        let thrown = #expect(throws: StoreError.self) {
            try FileDescriptor.sync(
                "file", isDirectory: { false }, ways: [("full", Call(ENOTSUP).make), ("plain", Call(EINVAL).make)])
        }
        #expect(thrown?.system?.errno == EINVAL)
        #expect(thrown?.system?.call == "plain")
        try FileDescriptor.sync(
            "folder", isDirectory: { true }, ways: [("full", Call(ENOTSUP).make), ("plain", Call(EINVAL).make)])
    }
}
