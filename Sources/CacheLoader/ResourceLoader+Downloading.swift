public import CacheFoundation
internal import CacheStore

/// Loads resources into files. Writes the content to a hidden file in the same directory, then renames that file over
/// the target. So the target gets the whole content or stays unchanged. The new file shares its blocks with the file of
/// the store where the file system can (Btrfs, XFS, APFS), and is a copy elsewhere. It is never a hard link, because a
/// program that changed it would damage the store. The file is not synced to the disk. If the process is killed while
/// it writes, the hidden file remains.
extension ResourceLoader {
    /// Loads the content that answers a request into a file. The value of the result is `file`.
    ///
    /// ```swift
    /// let saved = try await loader.load("https://example.com/film.mp4", to: URL(filePath: "/tmp/film.mp4"))
    /// print(saved.source, saved.value.path)
    /// ```
    ///
    /// Loads and shares transfers like ``load(_:as:)``, then writes on a separate thread. A body that the store keeps
    /// without a content coding needs no memory, neither for the transfer nor for the file. Any other body is in memory
    /// until it is written.
    ///
    /// The directory must exist. The permissions are those of a new file. A 304 to a condition of the caller leaves the
    /// file unchanged.
    ///
    /// - Throws: As ``load(_:as:)``, and ``LoadError/unwritableFile(path:reason:)``, which leaves an existing file
    ///   unchanged.
    @discardableResult
    public func load(
        _ request: some ResourceRequestConvertible, to file: URL
    ) async throws(LoadError) -> Loaded<URL> {
        let request = Self.withoutMemory(request.resourceRequest)
        let content: Loaded<ProcessingPlan.Content> = try await load(request, .content)
        return try await Self.write(content, to: file)
    }

    /// Loads a request into a file and returns the events of the load, like ``events(for:as:deliversStale:)``. The file
    /// is complete before ``LoadEvent/completed(_:)``. Stale content is not delivered first.
    public func events(for request: ResourceRequest, to file: URL) -> AsyncStream<LoadEvent<URL>> {
        let load: AsyncStream<LoadEvent<ProcessingPlan.Content>> =
            events(for: Self.withoutMemory(request), .content, deliversStale: false)
        return load.mapped { await Self.write($0, to: file) }
    }

    /// Memory would return the location of an earlier file.
    private static func withoutMemory(_ request: ResourceRequest) -> ResourceRequest {
        var request = request
        request.usesMemory = false
        return request
    }

    private static func write(_ event: LoadEvent<ProcessingPlan.Content>, to file: URL) async -> LoadEvent<URL> {
        guard case .completed(let content) = event else { return event.map { $0.with(file) } }
        do throws(LoadError) {
            return .completed(try await write(content, to: file))
        } catch {
            return LoadEvent(.failure(error))
        }
    }

    private static func write(
        _ content: Loaded<ProcessingPlan.Content>, to file: URL
    ) async throws(LoadError) -> Loaded<URL> {
        guard content.status != .notModified else { return content.with(file) }
        let target = try TargetFile(replacing: file)
        if let stored = content.value.file {
            try await target.append(stored)
        } else {
            try await target.write(content.value.data)
        }
        guard !Task.isCancelled else { throw .cancelled }
        try target.commit()
        return content.with(file)
    }
}
