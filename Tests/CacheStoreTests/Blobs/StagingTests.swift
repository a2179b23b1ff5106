import TestSupport

@Suite("Staging below names")
struct StagingTests {
    let sandbox: BlobSandbox

    init() throws { sandbox = try BlobSandbox() }

    /// Runs `body` on a thread. Returns `nil` if it has not returned after a minute.
    private func result<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value? {
        let outcome = Outcome<Value>()
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Result { try body() }
            outcome.result.withLock { $0 = result }
            finished.signal()
        }
        guard finished.wait(timeout: .now() + 60) == .success else { return nil }
        return try outcome.result.withLock { $0 }?.get()
    }

    private final class Outcome<Value: Sendable>: Sendable {
        /// Guards the result.
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Locks `staging/` with flock(2) until the descriptor is closed.
    private func lockFolder(_ operation: Int32) throws -> Int32 {
        let path = sandbox.directory.path + "/staging"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY)
        #expect(flock(descriptor, operation) == 0)
        return descriptor
    }

    @Test("staging does not wait for a lock of the folder")
    func stagesBesideLock() throws {
        let descriptor = try lockFolder(LOCK_EX)
        defer { close(descriptor) }
        let root = sandbox.root
        #expect(try result { try StagedFile(namedBelow: root).descriptor.path }?.contains("/staging/") == true)
    }

    @Test("a sweep does not wait for a lock of the folder")
    func sweepsBesideLock() throws {
        let descriptor = try lockFolder(LOCK_SH)
        defer { close(descriptor) }
        try Data("dead".utf8).write(to: sandbox.directory.url.appending(path: "staging/abc123-4711"))
        let root = sandbox.root
        #expect(try result { try BlobDirectory(root: root).sweepStagedFiles() } == 1)
        #expect(sandbox.names(in: "staging") == [])
    }

    @Test("files that are staged while sweeps run keep their names")
    func besideSweeps() throws {
        let blobs = try BlobDirectory(root: sandbox.root)
        let sweeps = DispatchGroup()
        let flag = Flag()
        for _ in 0..<2 {
            sweeps.enter()
            Thread.detachNewThread {
                while !flag.isSet { #expect(throws: Never.self) { try blobs.sweepStagedFiles() } }
                sweeps.leave()
            }
        }
        for number in 0..<Repetitions.count(3_000, debug: 500) {
            let staged = try StagedFile(namedBelow: sandbox.root)
            #expect(FileManager.default.fileExists(atPath: staged.descriptor.path), "file \(number)")
        }
        flag.set()
        sweeps.wait()
        #expect(sandbox.names(in: "staging") == [])
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .acquiring) }

        func set() { value.store(true, ordering: .releasing) }
    }

    @Test("a suspended staging makes a running sweep lock and delete no more files; later sweeps continue")
    func suspendedSweep() throws {
        let blobs = try BlobDirectory(root: sandbox.root)
        // A sweep may end before this thread continues, so repeat it.
        var left = 0
        for _ in 0..<100 where left == 0 { left = try namesAfterSuspendedSweep(of: blobs, count: 4_000) }
        #expect(left > 0)
        // The next sweep, after the store has been resumed, finishes.
        #expect(try blobs.sweepStagedFiles() == left)
    }

    /// Suspends the staging in mid-sweep, resumes it, and returns the number of remaining names.
    private func namesAfterSuspendedSweep(of blobs: BlobDirectory, count: Int) throws -> Int {
        try FileManager.default.createDirectory(
            atPath: sandbox.directory.path + "/staging", withIntermediateDirectories: true)
        for number in 0..<count {
            let file = open("\(sandbox.directory.path)/staging/\(number)-4711", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(close(file) == 0)
        }
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) { try blobs.sweepStagedFiles() }
            finished.signal()
        }
        try spinWhile { sandbox.names(in: "staging").count == count }
        blobs.suspendStaging()
        let left = sandbox.names(in: "staging").count
        try finished.waitForSignal()
        #expect(sandbox.names(in: "staging").count == left)
        #expect(try blobs.sweepStagedFiles() == 0)
        blobs.resumeStaging()
        return left
    }

    // MARK: Suspensions

    /// A directory of bodies that are staged below `staging/`, as on Darwin.
    private func withoutUnnamedFiles() throws -> BlobDirectory {
        let blobs = try BlobDirectory(root: sandbox.root, linksUnnamedFiles: false)
        // The first attempt shows that this process cannot name unnamed files.
        try blobs.store(Data("first".utf8))
        return blobs
    }

    /// Sweeps like another process, with separate open files.
    private func sweepElsewhere() throws -> Int {
        try BlobDirectory(root: FileDescriptor.openDirectory(atPath: sandbox.directory.path)).sweepStagedFiles()
    }

    @Test("a staged file has its lock before and after a suspension, and keeps its name unless a sweep takes it")
    func locksOverSuspension() throws {
        let blobs = try withoutUnnamedFiles()
        let staged = try blobs.stage(Data("body".utf8))
        for _ in 1...2 {
            #expect(try sweepElsewhere() == 0)
            blobs.suspendStaging()
            blobs.resumeStaging()
        }
        #expect(try sweepElsewhere() == 0)
        #expect(try !staged.hasLostName(wasLinked: false))
        blobs.suspendStaging()
        #expect(try sweepElsewhere() == 1)
        #expect(try staged.hasLostName(wasLinked: false))
    }

    @Test("a file staged during a suspension gets its lock at the end of the suspension")
    func stagedWhileSuspended() throws {
        let blobs = try withoutUnnamedFiles()
        blobs.suspendStaging()
        let swept = try blobs.stage(Data("swept".utf8))
        #expect(try sweepElsewhere() == 1)
        let kept = try blobs.stage(Data("kept".utf8))
        blobs.resumeStaging()
        #expect(try sweepElsewhere() == 0)
        #expect(try swept.hasLostName(wasLinked: false))
        #expect(try !kept.hasLostName(wasLinked: false))
    }
}
