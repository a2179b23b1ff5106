import CacheReports
import Dispatch
import Synchronization

/// The non-blank lines of a list of URLs. Reads the list in chunks, so memory use does not depend on its length.
struct URLList {
    private let file: InputFile
    private let reader: ChunkReader
    private var parser = URLListParser()
    /// The remaining lines of the current chunk.
    private var lines: ArraySlice<URLListLine> = []
    private var isAtEnd = false

    init(_ file: InputFile) {
        self.file = file
        reader = ChunkReader(file)
    }

    /// The number of lines, or `nil` for an input that can be read only once. Reads to the end and blocks.
    static func count(in file: InputFile) throws(Failure) -> Int? {
        guard let start = file.position else { return nil }
        var parser = URLListParser()
        var count = 0
        while true {
            let chunk = try file.nextChunk()
            if chunk.isEmpty { break }
            parser.add(chunk) { if $0.content != .blank { count += 1 } }
        }
        if parser.end().content != .blank { count += 1 }
        try file.seek(to: start)
        return count
    }

    /// Returns the next line, or `nil` at the end or after the task is cancelled.
    mutating func next() async throws -> URLListLine? {
        while true {
            if let line = lines.popFirst() { return line }
            if isAtEnd { return nil }
            let chunk = try await reader.next()
            isAtEnd = chunk.isEmpty
            var found: [URLListLine] = []
            if isAtEnd { found.append(parser.end()) } else { parser.add(chunk) { found.append($0) } }
            lines = found.filter { $0.content != .blank }[...]
        }
    }
}

/// Reads a file on a separate queue, so that a silent pipe blocks no other work.
private final class ChunkReader: Sendable {
    private let file: InputFile
    private let queue = DispatchQueue(label: "cachestore.list")
    /// Guards the continuation of `next()`. Either a finished read or a cancellation removes and resumes it.
    private let waiter = Mutex<CheckedContinuation<[UInt8], any Error>?>(nil)

    init(_ file: InputFile) {
        self.file = file
    }

    /// Returns the next bytes, or none at the end or after the task is cancelled.
    func next() async throws -> [UInt8] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                waiter.withLock { $0 = caller }
                // A cancellation before this point found no continuation.
                if Task.isCancelled { return end(.success([])) }
                queue.async { [self] in end(Result { try file.nextChunk() }) }
            }
        } onCancel: {
            end(.success([]))
        }
    }

    private func end(_ result: Result<[UInt8], any Error>) {
        let caller = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        caller?.resume(with: result)
    }
}
