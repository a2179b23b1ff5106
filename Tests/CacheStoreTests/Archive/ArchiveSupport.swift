import CacheStore
import Dispatch
import Foundation
import Synchronization
import TestSupport

extension ResponseStore {
    /// The store as an archive, and the report.
    func archive() throws -> (bytes: [UInt8], report: ArchiveReport) {
        try Self.withFile { handle in
            let report = try exportArchive(to: handle.fileDescriptor)
            try handle.seek(toOffset: 0)
            return (Array(try handle.readToEnd() ?? Data()), report)
        }
    }

    @discardableResult
    static func importing(_ bytes: [UInt8], into url: URL) throws -> ArchiveReport {
        try withFile { handle in
            try handle.write(contentsOf: bytes)
            try handle.seek(toOffset: 0)
            return try importArchive(from: handle.fileDescriptor, into: url)
        }
    }

    private static func withFile<Value>(_ body: (FileHandle) throws -> Value) throws -> Value {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "archive.tar")
        try Data().write(to: url)
        return try body(try FileHandle(forUpdating: url))
    }

    /// Everything stored, in an order.
    func allRows() throws -> [SQLRows] {
        try [
            query("SELECT * FROM cache_entries ORDER BY partition, key, kind, variant"),
            query("SELECT * FROM cache_stats"),
            query("SELECT * FROM cache_errors ORDER BY partition, key"),
        ]
    }
}

extension Sandbox {
    /// What is in the directory around the store's, and below.
    func surroundings() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
    }

    /// The permissions of everything in the store.
    func modes() throws -> [String: Int] {
        var modes: [String: Int] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + [""] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            modes[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        return modes
    }
}

/// Work that blocks, on a thread of its own.
final class Background<Value: Sendable>: Sendable {
    /// Guards what the work returned.
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread {
            let result = Result { try work() }
            self.result.withLock { $0 = result }
            self.isDone.signal()
        }
    }

    /// Waits for the end of the work; called once.
    func value() throws -> Value {
        isDone.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
