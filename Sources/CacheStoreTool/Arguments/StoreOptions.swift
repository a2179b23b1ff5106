import ArgumentParser
import CacheLoader
import CacheStore
import Foundation

/// Which store a command is about.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The directory of the store.", discussion: "Without it: cachestore in the platform's cache directory.",
            valueName: "dir"),
        completion: .directory)
    var store: String?

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store needs the name of a directory") }
    }

    var directory: URL {
        // Not as a directory, or what a message says of a file would end in a slash.
        store.map { URL(filePath: $0, directoryHint: .notDirectory) } ?? Self.platformDirectory
    }

    var path: String { directory.path(percentEncoded: false) }

    private static var platformDirectory: URL {
        #if canImport(Darwin)
        let caches = URL.cachesDirectory
        #else
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].map { URL(filePath: $0, directoryHint: .isDirectory) } ?? URL.homeDirectory
        // Base directories have to be absolute; a relative one is to be ignored (XDG Base Directory Specification).
        let given = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let caches =
            given.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? home.appending(path: ".cache", directoryHint: .isDirectory)
        #endif
        return caches.appending(path: "cachestore", directoryHint: .notDirectory)
    }

    // MARK: Using it

    /// Calls `body` with the store, which is started if there is none; writes what it has noted afterwards.
    func withStore<Result>(_ body: (ResponseStore) async throws -> Result) async throws -> Result {
        try await Self.withStore(at: directory, body)
    }

    /// As ``withStore(_:)``, but a store that is not there is an error.
    ///
    /// - Parameter isReadOnly: Whether to change nothing. Only the schema of an older version is brought up to date first.
    func withExistingStore<Result>(
        isReadOnly: Bool = false, _ body: (ResponseStore) async throws -> Result
    ) async throws -> Result {
        try requireStore()
        guard isReadOnly else { return try await withStore(body) }
        var configuration = Self.configuration
        configuration.isReadOnly = true
        return try await Self.withStore(at: directory, configuration: configuration, body)
    }

    /// The rows of a query. The store is opened read-only, and never created.
    ///
    /// Without a time limit by default: a large store lists its entries for longer than a query of a program should take.
    func query(_ sql: String, timeout: Duration? = nil, maxRows: Int? = nil) throws(Failure) -> SQLRows {
        try requireStore()
        do throws(StoreError) {
            return try ResponseStore.query(sql, inStoreAt: directory, timeout: timeout, maxRows: maxRows)
        } catch {
            throw Failure(error, in: directory)
        }
    }

    /// As ``withStore(_:)``, for a directory and a configuration of the caller's choice.
    static func withStore<Result>(
        at directory: URL, configuration: ResponseStore.Configuration = Self.configuration,
        _ body: (ResponseStore) async throws -> Result
    ) async throws -> Result {
        do {
            let store = try open(directory, configuration)
            // The uses that are only noted yet would be lost: the end of the process asks nobody.
            defer { store.close() }
            return try await body(store)
        } catch let error as StoreError {
            throw Failure(error, in: directory)
        } catch LoadError.store(let error) {
            throw Failure(error, in: directory)
        }
    }

    /// Without limits: a command must not evict from the store of a program with larger ones.
    static var configuration: ResponseStore.Configuration {
        var configuration = ResponseStore.Configuration()
        configuration.limits = nil
        return configuration
    }

    private static func open(
        _ directory: URL, _ configuration: ResponseStore.Configuration
    ) throws(StoreError) -> ResponseStore {
        do throws(StoreError) {
            return try ResponseStore(directory: directory, configuration: configuration)
        } catch .olderSchema {
            var writing = configuration
            writing.isReadOnly = false
            try ResponseStore(directory: directory, configuration: writing).close()
            return try ResponseStore(directory: directory, configuration: configuration)
        }
    }

    private func requireStore() throws(Failure) {
        let index = directory.appending(path: "index.sqlite", directoryHint: .notDirectory)
        // A file in the directory's place, or one that cannot be looked into, gets its own error when it is opened.
        var status = stat()
        guard stat(index.path(percentEncoded: false), &status) != 0, errno == ENOENT else { return }
        throw Failure(.broken, "there is no store in \(path)")
    }
}

extension Failure {
    /// An error of the store, with the place if it does not say that itself.
    init(_ error: StoreError, in directory: URL) {
        let path = directory.path(percentEncoded: false)
        switch error {
        case .index(let error) where error.code == 26:
            // SQLITE_NOTADB, which opening for reading finds out by itself, and does not put into words.
            self.init(.broken, "\(StoreError.notAnIndex(path: "\(path)/index.sqlite", reason: error.message))")
        case .index, .closed, .headTooLarge:
            self.init(.broken, "\(path): \(error)")
        default:
            self.init(.broken, "\(error)")
        }
    }
}
