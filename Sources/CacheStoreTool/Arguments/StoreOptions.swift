import ArgumentParser
import CacheLoader
import CacheStore
import Foundation

/// The store option of a command.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The directory of the store.",
            discussion: """
                Without it: the directory in CACHESTORE_STORE, or else cachestore in the platform's cache directory.
                """,
            valueName: "dir"),
        completion: .directory)
    var store: String?

    @Flag(help: "Use a directory that belongs to another user, or that other users may write.")
    var acceptForeignDirectory = false

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store needs the name of a directory") }
    }

    var directory: URL {
        // Not a directory URL, because a file named in a message would then end in a slash.
        (store ?? Environment["CACHESTORE_STORE"]).map { URL(filePath: $0, directoryHint: .notDirectory) }
            ?? ResponseStore.defaultDirectory(named: "cachestore")
    }

    var path: String { directory.path(percentEncoded: false) }

    // MARK: Using it

    /// Opens or creates the store, calls `body` with it, then writes pending accesses.
    func withStore<Result>(_ body: (ResponseStore) async throws -> Result) async throws -> Result {
        try await Self.withStore(at: directory, configuration: configuration, body)
    }

    private var configuration: ResponseStore.Configuration {
        var configuration = Self.configuration
        configuration.acceptsForeignDirectory = acceptForeignDirectory
        return configuration
    }

    /// Opens or creates the store and calls `body` with it. A store that fails must not fail a load, so `body` gets a
    /// temporary empty store in place of a store that cannot be opened.
    func withStoreOrNone<Result>(_ body: (ResponseStore) async throws -> Result) async throws -> Result {
        let store: ResponseStore
        do throws(StoreError) {
            store = try Self.open(directory, configuration)
        } catch {
            StandardError.say("warning: \(Failure(error, in: directory).message); nothing is stored")
            return try await TemporaryPlace.with { try await Self.withStore(at: $0, body) }
        }
        return try await Self.using(store, at: directory, body)
    }

    /// Calls `body` with the store. Fails if the store does not exist. With `isReadOnly`, the command changes nothing,
    /// but an older schema is migrated first.
    func withExistingStore<Result>(
        isReadOnly: Bool = false, _ body: (ResponseStore) async throws -> Result
    ) async throws -> Result {
        try requireStore()
        guard isReadOnly else { return try await withStore(body) }
        var configuration = configuration
        configuration.isReadOnly = true
        // The command lists the store, and never returns a body as the answer of an origin.
        configuration.acceptsForeignDirectory = true
        return try await Self.withStore(at: directory, configuration: configuration, body)
    }

    /// Returns the rows of a query. Opens the store read-only and never creates it. Has no time limit, because a query
    /// of a large store takes longer than the limit for programs.
    func query(_ sql: String, _ arguments: [SQLValue] = []) throws(Failure) -> SQLRows {
        try requireStore()
        do throws(StoreError) {
            return try ResponseStore.query(sql, arguments, inStoreAt: directory, timeout: nil)
        } catch {
            throw Failure(error, in: directory)
        }
    }

    /// Calls `body` with each row of a query until `body` returns `false`, and returns the names of the columns. Opens
    /// the store read-only and never creates it. Explains errors in SQL of the command line (`isFromUser`).
    func forEachRow(
        of sql: String, isFromUser: Bool = false, timeout: Duration? = nil, _ body: (SQLRows.Row) -> Bool
    ) throws(Failure) -> [String] {
        try requireStore()
        do throws(StoreError) {
            return try ResponseStore.forEachRow(of: sql, inStoreAt: directory, timeout: timeout, body)
        } catch {
            if isFromUser, let problem = SQLProblem(error, in: directory) { throw Failure(.broken, problem.message) }
            throw Failure(error, in: directory)
        }
    }

    /// Calls `body` with the store in the given directory and with the given configuration.
    static func withStore<Result>(
        at directory: URL, configuration: ResponseStore.Configuration = Self.configuration,
        _ body: (ResponseStore) async throws -> Result
    ) async throws -> Result {
        let store: ResponseStore
        do throws(StoreError) {
            store = try open(directory, configuration)
        } catch {
            throw Failure(error, in: directory)
        }
        return try await using(store, at: directory, body)
    }

    private static func using<Result>(
        _ store: ResponseStore, at directory: URL, _ body: (ResponseStore) async throws -> Result
    ) async throws -> Result {
        // Closing writes pending accesses. Exiting without it loses them.
        defer { store.close() }
        do {
            return try await body(store)
        } catch let error as StoreError {
            throw Failure(error, in: directory)
        } catch LoadError.store(let error) {
            throw Failure(error, in: directory)
        }
    }

    /// Sets no limits: a command must not evict from the store of a program with larger limits.
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
        // For a file or an unreadable directory, opening the store reports a better error.
        var status = stat()
        guard stat(index.path(percentEncoded: false), &status) != 0, errno == ENOENT else { return }
        throw Failure(.broken, "there is no store in \(path)")
    }
}

extension Failure {
    /// Describes an error of the store. Adds the path if the error lacks it.
    init(_ error: StoreError, in directory: URL) {
        let path = directory.path(percentEncoded: false)
        switch error {
        case .index(let error) where error.code == 26:
            // SQLITE_NOTADB: opening read-only reports this code without a readable message.
            self.init(.broken, "\(StoreError.notAnIndex(path: "\(path)/index.sqlite", reason: error.message))")
        case .index, .closed, .headTooLarge:
            self.init(.broken, "\(path): \(error)")
        default:
            self.init(.broken, "\(error)")
        }
    }
}
