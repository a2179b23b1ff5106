public import CacheFoundation
internal import CacheStore
internal import HTTPTypes

/// Loads resources into files.
///
/// The file gets the whole content or stays as it was: the content is written beside its place under a hidden name, and then
/// replaces a file of its name. It shares its blocks with the file of the store where the file system can (Btrfs, XFS,
/// APFS), and is a copy elsewhere. It is never a hard link: a program that changed such a file would damage the store.
///
/// The file is not synced to the disk. A process that is killed while it writes leaves the hidden file.
extension ResourceLoader {
    /// Loads the content that answers a request into a file. The value of the result is `file`.
    ///
    /// ```swift
    /// let saved = try await loader.load("https://example.com/film.mp4", to: URL(filePath: "/tmp/film.mp4"))
    /// print(saved.source, saved.value.path)
    /// ```
    ///
    /// Loads, and shares transfers, like ``load(_:)``; then writes on a thread of its own. A body that the store has in
    /// this form needs no memory: neither for the transfer nor for the file. A body that it does not keep, or that has
    /// a content coding, is in memory until it is written.
    ///
    /// A directory of the path must exist. The permissions are those of a new file. A 304 to a condition of the caller
    /// leaves the file as it is.
    ///
    /// - Throws: As ``load(_:)``, and ``LoadError/unwritableFile(path:reason:)``, after which a file at that path is as
    ///   it was.
    @discardableResult
    public func load(
        _ request: some ResourceRequestConvertible, to file: URL
    ) async throws(LoadError) -> Loaded<URL> {
        let request = Self.withoutMemory(request.resourceRequest)
        let content: Loaded<ProcessingPlan.Content> = try await load(request, .content)
        return try await Self.write(content, to: file)
    }

    /// Loads a request into a file and returns the events of the load, like ``events(for:deliversStale:)``. The file is
    /// in its place before ``LoadEvent/completed(_:)``. Stale content is not delivered first.
    public func events(for request: ResourceRequest, to file: URL) -> AsyncStream<LoadEvent<URL>> {
        let load: AsyncStream<LoadEvent<ProcessingPlan.Content>> =
            events(for: Self.withoutMemory(request), .content, deliversStale: false)
        return load.mapped { await Self.write($0, to: file) }
    }

    /// Memory would keep the place of an earlier file.
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
        let (target, path) = try ReplacementFile.make(replacing: file)
        if let stored = content.value.file {
            try await target.append(stored, path: path)
        } else {
            try await target.write(content.value.data, path: path)
        }
        guard !Task.isCancelled else { throw .cancelled }
        try target.commit(path: path)
        return content.with(file)
    }
}
