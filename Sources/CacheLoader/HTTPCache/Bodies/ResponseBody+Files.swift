package import CacheFoundation
package import CacheStore
internal import HTTPTypes

extension ResponseBody {
    /// The stored file with exactly this body, if there is one. An arriving body has no such file before its end.
    var file: StoredBody? {
        switch source {
        case .empty: nil
        case .stored(let reader): reader.file
        case .arriving(let reader, _): reader.file
        }
    }

    /// Clones or copies stored bytes without loading them into memory. `path` is for errors. `progress` receives the
    /// number of bytes that have come from the network.
    package func write(
        to target: ReplacementFile, path: String, progress: (Int64) -> Void
    ) async throws(LoadError) {
        if case .arriving(let reader, _) = source {
            try begin()
            defer { end() }
            return try await reader.write(to: target, path: path, progress: progress)
        }
        if let file {
            try await target.append(file, path: path)
            return
        }
        var byteCount: Int64 = 0
        var chunks = makeAsyncIterator()
        while let chunk = try await chunks.next() {
            try await target.write(chunk, path: path)
            byteCount += Int64(chunk.count)
            progress(byteCount)
        }
    }
}

extension SharedBodyReader {
    /// Writes the whole body to a file. Copies stored bytes at the end of the body, or before the first byte outside
    /// the store.
    fileprivate func write(
        to target: ReplacementFile, path: String, progress: (Int64) -> Void
    ) async throws(LoadError) {
        var received: Int64 = 0
        var hasStoredStart = false
        while true {
            switch await nextPiece() {
            case .file(let range): received = range.upperBound
            case .chunk(let chunk, let isInFile):
                received += Int64(chunk.count)
                if !isInFile {
                    if !hasStoredStart { try await target.append(written(), path: path) }
                    hasStoredStart = true
                    try await target.write(chunk, path: path)
                }
            case .failed(let error): throw error
            case .end:
                if !hasStoredStart { try await target.append(written(), path: path) }
                return
            }
            progress(received)
        }
    }
}

/// Writing with the errors of a load.
extension ReplacementFile {
    /// Creates the new file in the directory of the file that it replaces.
    package static func make(
        replacing file: URL, isPrivate: Bool = false
    ) throws(LoadError) -> (file: ReplacementFile, path: String) {
        let path = file.absoluteURL.path(percentEncoded: false)
        guard file.isFileURL else { throw .unwritableFile(path: file.absoluteString, reason: "it is not a file URL") }
        return (
            try Self.wrapping(path) { () throws(StoreError) in
                try ReplacementFile(replacing: path, isPrivate: isPrivate)
            }, path
        )
    }

    /// Appends a body. Throws ``LoadError/cancelled`` after a cancellation of the calling task.
    package func append(_ body: StoredBody, path: String) async throws(LoadError) {
        let isWhole: Bool
        do throws(StoreError) {
            isWhole = try await append(body)
        } catch {
            throw LoadError(writing: path, error)
        }
        guard isWhole else { throw .cancelled }
    }

    /// Appends bytes without blocking the caller's thread.
    package func write(_ data: Data, path: String) async throws(LoadError) {
        do throws(StoreError) {
            try await write(data)
        } catch {
            throw LoadError(writing: path, error)
        }
    }

    package func commit(path: String) throws(LoadError) {
        try Self.wrapping(path) { () throws(StoreError) in try commit() }
    }

    private static func wrapping<Value>(
        _ path: String, _ body: () throws(StoreError) -> Value
    ) throws(LoadError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            throw LoadError(writing: path, error)
        }
    }
}

extension LoadError {
    /// Wraps an error of writing a file. A body that cannot be read is an error of the store.
    fileprivate init(writing path: String, _ error: StoreError) {
        switch error {
        case .truncatedBody: self = .store(error)
        case .file(let reason): self = .unwritableFile(path: path, reason: "\(reason)")
        default: self = .unwritableFile(path: path, reason: "\(error)")
        }
    }
}
