import Dispatch
import Synchronization

/// The lines of a list of URLs that are not blank, read piece by piece: a list of any length takes no memory.
struct URLList {
    private let file: InputFile
    private let reader: ChunkReader
    private var parser = URLListParser()
    /// Those of the last piece that are still to come.
    private var lines: ArraySlice<URLListLine> = []
    private var isAtEnd = false

    init(_ file: InputFile) {
        self.file = file
        reader = ChunkReader(file)
    }

    /// How many there are from the beginning on; `nil` for what cannot be read twice. Reads it all, and blocks.
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

    /// The next line; `nil` at the end, or once the task is cancelled.
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

/// Reads a file on a queue of its own, so that a pipe in which nothing comes keeps nothing else waiting.
private final class ChunkReader: Sendable {
    private let file: InputFile
    private let queue = DispatchQueue(label: "cachestore.list")
    /// Guards who waits for the next bytes: whoever takes it out resumes it, the read or a cancellation.
    private let waiter = Mutex<CheckedContinuation<[UInt8], any Error>?>(nil)

    init(_ file: InputFile) {
        self.file = file
    }

    /// The next bytes; none at the end, or once the task is cancelled.
    func next() async throws -> [UInt8] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                waiter.withLock { $0 = caller }
                // A cancellation before this point found nobody to tell.
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
