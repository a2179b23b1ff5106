import CacheStore
import Foundation
import Samples

/// The directory for the stores of a run. Keeps read-only stores for the next run.
struct Place: Sendable {
    let root: URL

    init(_ root: URL) throws {
        self.root = root
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    /// A store with bodies of all sizes; `entries` of them have the size of 16 KiB.
    func bodies(entries: Int) throws -> URL {
        let directory = root.appending(path: "bodies-\(entries)")
        let others = Sample.Size.allCases.filter { $0 != .kib16 }
        try fill(directory, count: others.reduce(entries) { $0 + $1.bodyCount }) { store in
            try insert(entries, into: store) { number in
                (Sample.url(number), Sample.body(number % Sample.Size.kib16.bodyCount, .kib16))
            }
            for size in others {
                try insert(size.bodyCount, into: store) { (Sample.url($0, size), Sample.body($0, size)) }
            }
        }
        return directory
    }

    /// A store with `count` entries, each with its own small file.
    func files(_ count: Int) throws -> URL {
        let directory = root.appending(path: "files-\(count)")
        try fill(directory, count: count) { store in
            try insert(count, into: store) { (Sample.url($0), Data("{\"number\": \($0)}".utf8)) }
        }
        return directory
    }

    /// A store for ``ScaleCalls``: `count` entries with a file each, of which a thousand have a tag, and a thousand
    /// entries of a partition.
    func scale(_ count: Int) throws -> URL {
        let directory = root.appending(path: "scale-\(count)")
        try fill(directory, count: count + ScaleCalls.groupSize) { store in
            let stride = max(1, count / ScaleCalls.groupSize)
            try onThreads(8) { thread in
                for number in Swift.stride(from: thread, to: count + ScaleCalls.groupSize, by: 8) {
                    let isOfPartition = number >= count
                    let body = Data("{\"number\": \(number)}".utf8)
                    try store.insert(
                        body, metadata: Sample.metadata(number, byteCount: body.count),
                        for: isOfPartition
                            ? CacheKey(url: "https://example.com/\(number)", partition: "group")
                            : ScaleCalls.key(number),
                        options: EntryOptions(
                            tags: isOfPartition || number % stride != stride / 2 ? [] : ["group"]))
                }
            }
        }
        return directory
    }

    private func fill(_ directory: URL, count: Int, _ work: (ResponseStore) throws -> Void) throws {
        let store = try ResponseStore.unlimited(directory)
        defer { store.close() }
        guard try store.statistics().entries != count else { return }
        print("filling \(directory.lastPathComponent) …")
        try store.evict(maxBytes: 0)
        try work(store)
    }

    private func insert(
        _ count: Int, into store: ResponseStore, _ item: @escaping @Sendable (Int) -> (url: String, body: Data)
    ) throws {
        let threads = 8
        try onThreads(threads) { thread in
            for number in stride(from: thread, to: count, by: threads) {
                let (url, body) = item(number)
                try store.insert(
                    body, metadata: Sample.metadata(number, byteCount: body.count), for: CacheKey(url: url))
            }
        }
    }

    /// Creates an empty directory for a store or file to write.
    func fresh(_ name: String) throws -> URL {
        let directory = root.appending(path: "work").appending(path: name)
        try remove(directory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Creates an empty store and closes it.
    func freshStore(_ name: String) throws -> URL {
        let directory = try fresh(name)
        try ResponseStore.unlimited(directory).close()
        return directory
    }

    /// Copies a closed store. The body files are hard links to the originals, and no run modifies them in place.
    func copy(_ original: URL, as name: String) throws -> URL {
        let copy = try fresh(name)
        try shell("cp -rl \"$1/blobs\" \"$2/blobs\" && cp \"$1/index.sqlite\" \"$2/index.sqlite\"", original, copy)
        return copy
    }

    private func remove(_ directory: URL) throws { try shell("rm -rf \"$1\"", directory) }

    /// Removes the directories made by ``fresh(_:)``.
    func clear() throws { try remove(root.appending(path: "work")) }

    private func shell(_ command: String, _ arguments: URL...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command, "sh"] + arguments.map { $0.path(percentEncoded: false) }
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CStore.Failure(description: "failed: \(command)") }
    }
}
