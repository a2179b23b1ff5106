package import CacheFoundation
package import CacheStore

extension ResponseBody {
    /// The stored file with exactly this body, if there is one. An arriving body has no such file before its end.
    var file: StoredBody? {
        switch source {
        case .empty: nil
        case .stored(let reader): reader.file
        case .arriving(let reader, _): reader.file
        }
    }

    /// Clones or copies stored bytes without loading them into memory. `progress` receives the number of bytes that have
    /// come from the network.
    package func write(to target: TargetFile, progress: (Int64) -> Void) async throws(LoadError) {
        if case .arriving(let reader, _) = source {
            try begin()
            defer { end() }
            return try await reader.write(to: target, progress: progress)
        }
        if let file {
            try await target.append(file)
            return
        }
        var byteCount: Int64 = 0
        var chunks = makeAsyncIterator()
        while let chunk = try await chunks.next() {
            try await target.write(chunk)
            byteCount += Int64(chunk.count)
            progress(byteCount)
        }
    }
}

extension SharedBodyReader {
    /// Writes the whole body to a file. Copies stored bytes at the end of the body, or before the first byte outside
    /// the store.
    fileprivate func write(to target: TargetFile, progress: (Int64) -> Void) async throws(LoadError) {
        var received: Int64 = 0
        var hasStoredStart = false
        while true {
            switch await nextPiece() {
            case .file(let range): received = range.upperBound
            case .chunk(let chunk, let isInFile):
                received += Int64(chunk.count)
                if !isInFile {
                    if !hasStoredStart { try await target.append(written()) }
                    hasStoredStart = true
                    try await target.write(chunk)
                }
            case .failed(let error): throw error
            case .end:
                if !hasStoredStart { try await target.append(written()) }
                return
            }
            progress(received)
        }
    }
}

/// A new file for a body, which replaces the target in one step. Throws the errors of a load.
package struct TargetFile: Sendable {
    private let file: ReplacementFile
    private let path: String

    /// Creates the new file in the directory of the file that it replaces. With `isPrivate`, only the user may read it.
    package init(replacing target: URL, isPrivate: Bool = false) throws(LoadError) {
        guard target.isFileURL else {
            throw .unwritableFile(path: target.absoluteString, reason: "it is not a file URL")
        }
        path = target.absoluteURL.path(percentEncoded: false)
        do throws(StoreError) {
            file = try ReplacementFile(replacing: path, isPrivate: isPrivate)
        } catch {
            throw LoadError(writing: path, error)
        }
    }

    /// Appends a body. Throws ``LoadError/cancelled`` after a cancellation of the calling task.
    package func append(_ body: StoredBody) async throws(LoadError) {
        let isWhole: Bool
        do throws(StoreError) {
            isWhole = try await file.append(body)
        } catch {
            throw LoadError(writing: path, error)
        }
        guard isWhole else { throw .cancelled }
    }

    /// Appends bytes without blocking the caller's thread.
    package func write(_ data: Data) async throws(LoadError) {
        do throws(StoreError) {
            try await file.write(data)
        } catch {
            throw LoadError(writing: path, error)
        }
    }

    /// Replaces the target.
    package func commit() throws(LoadError) {
        do throws(StoreError) {
            try file.commit()
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
