import TestSupport

@Suite(
    "Snapshots on a full disk",
    .enabled(if: SmallDisk.isPossible, "needs Linux, and the right to mount a file system"))
struct SnapshotFullDiskTests {
    private func fill(_ store: ResponseStore, count: Int, byteCount: Int) throws {
        for number in 0..<count {
            var body = Data(repeating: UInt8(number % 251), count: byteCount)
            body.append(contentsOf: Data("\(number)".utf8))
            try store.insert(
                body, metadata: EntryMetadata(requestedAt: Date(), receivedAt: Date()),
                for: CacheKey(name: "\(number)"))
        }
    }

    @Test(
        "A target without space for the bodies or for the index stays unchanged",
        arguments: [(4 << 20, 40, 300_000), (128 << 10, 500, 100)])
    func fullTarget(_ diskByteCount: Int, count: Int, byteCount: Int) throws {
        let disk = try #require(try SmallDisk(byteCount: diskByteCount))
        let directory = try TemporaryDirectory()
        let store = try ResponseStore(directory: directory.url.appending(path: "store"))
        try fill(store, count: count, byteCount: byteCount)
        let target = disk.url.appending(path: "new/copy")
        let error = try #require(throws: StoreError.self) { try store.snapshot(to: target) }
        switch error {
        case .file(let error): #expect(error.errno == ENOSPC)
        // SQLITE_FULL
        case .index(let error): #expect(error.code == 13)
        default: Issue.record("\(error)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path(percentEncoded: false)) == [])
        #expect(try store.statistics().entries == count)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("On the disk of the store, bodies take no space: only the index has to fit")
    func sharedDisk() throws {
        let disk = try #require(try SmallDisk(byteCount: 8 << 20))
        let store = try ResponseStore(directory: disk.url.appending(path: "store"))
        try fill(store, count: 15, byteCount: 300_000)
        let target = disk.url.appending(path: "copy")
        #expect(try store.snapshot(to: target).files == 15)
        #expect(try ResponseStore(directory: target).check(digests: true).problems == [])
    }
}
