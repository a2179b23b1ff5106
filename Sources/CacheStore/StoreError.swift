internal import CSQLite

/// The reason why a call of a store failed.
///
/// A missing or damaged body is a miss and not an error.
@nonexhaustive
public enum StoreError: Error, Hashable, Sendable {
    /// The directory of the store cannot be used. Choose another directory, or remove the cause that `reason` names.
    case unusableDirectory(path: String, reason: String)
    /// The directory belongs to another user, or other users may write to it: they could plant bodies. Choose a
    /// directory of this user, or set ``ResponseStore/Configuration/acceptsForeignDirectory``.
    case foreignDirectory(path: String, reason: String)
    /// A folder of the store belongs to another user, for example because root has used the store. This user cannot
    /// write to it. Give the folder to the owner of the store with chown(1).
    case unwritableFolder(path: String, owner: UInt32)
    /// `index.sqlite` is the database of another program, or is damaged in a read-only store. Choose another directory,
    /// or move the file away.
    case notAnIndex(path: String, reason: String)
    /// An older version of this package wrote the index, which is opened for reading only. Open the store for writing
    /// once.
    case olderSchema(path: String, found: Int, supported: Int)
    /// A newer version of this package wrote the index, which is opened for reading only. Update the program.
    case newerSchema(path: String, found: Int, supported: Int)
    /// Another connection or process held a lock for longer than the busy timeout. Try again.
    case busy(path: String)
    /// The index refused a statement.
    case index(SQLiteError)
    /// A query took longer than its time limit. Narrow it with WHERE or LIMIT, or raise
    /// ``ResponseStore/Configuration/queryTimeout``.
    case queryTimedOut(limit: Duration)
    /// A file operation failed.
    case file(SystemError)
    /// The key or URL cannot name an entry, for the given reason.
    case invalidKey(String, reason: String)
    /// The field lines of a response, or another text of its metadata, are longer than the store allows.
    case headTooLarge(byteCount: Int, limit: Int)
    /// The file of a body has fewer bytes than when it was opened.
    case truncatedBody(path: String)
    /// The body is larger than ``Limits/maxEntryBytes``. Deliver the body without storing it.
    case bodyTooLarge(limit: Int64)
    /// Pinned entries leave no room for the body within the limits. Deliver it without storing it, or unpin entries.
    case exceedsLimits(limit: Int64?)
    /// The tag is invalid, for the given reason.
    case invalidTag(String, reason: String)
    /// The name of a derived representation is invalid, for the given reason.
    case invalidName(String, reason: String)
    /// The key was removed while its response was loading, so the response was not stored.
    case removedMeanwhile(CacheKey)
    /// The call would write to a read-only store.
    case readOnly(path: String)
    /// The store is suspended and has closed its files. Call ``ResponseStore/resume()`` first.
    case suspended
    /// The store, or the writer of a body, has been closed.
    case closed
}

extension StoreError: CustomStringConvertible {
    /// The error, the path or value concerned, and the remedy, if known.
    public var description: String {
        switch self {
        case .unusableDirectory(let path, let reason): "cannot use \(path) as a store: \(reason)"
        case .foreignDirectory(let path, let reason):
            "cannot trust \(path) as a store: \(reason); choose a directory that only this user can write, or accept this one"
        case .unwritableFolder(let path, let owner):
            "\(path) belongs to the user \(owner), and this user cannot write it; give it to the owner of the store with chown"
        case .notAnIndex(let path, let reason):
            "\(path) cannot be used as the index of a store (\(reason)); move it away, or choose another directory"
        case .olderSchema(let path, let found, let supported):
            "\(path) has schema version \(found), this program knows \(supported): open it for writing once"
        case .newerSchema(let path, let found, let supported):
            "\(path) has schema version \(found), this program knows \(supported): update it or choose another directory"
        case .busy(let path): "\(path) was locked by another writer for too long; try again"
        case .index(let error): "the index failed: \(error)"
        case .queryTimedOut(let limit): "the query took longer than \(limit): narrow it, or raise its time limit"
        case .file(let error): "a file operation failed: \(error)"
        case .invalidKey(let key, let reason): "\(key.prefix(200).debugDescription) cannot be a key: \(reason)"
        case .headTooLarge(let count, let limit): "the field lines have \(count) bytes, the store keeps \(limit)"
        case .truncatedBody(let path): "\(path) became shorter while it was read"
        case .bodyTooLarge(let limit): "the body is larger than the store keeps, \(limit) bytes"
        case .exceedsLimits(let limit):
            "pinned entries leave no room within the limits\(limit.map { " (\($0) bytes)" } ?? ""); unpin some, or deliver the body without storing it"
        case .invalidTag(let tag, let reason): "\(tag.prefix(200).debugDescription) cannot be a tag: \(reason)"
        case .invalidName(let name, let reason):
            "\(name.prefix(200).debugDescription) cannot be the name of a derived form: \(reason)"
        case .removedMeanwhile(let key): "\(key) was removed while a response for it was on its way"
        case .readOnly(let path): "\(path) is open for reading only"
        case .suspended: "the store is suspended; resume it first"
        case .closed: "the store is closed"
        }
    }
}

extension StoreError {
    /// The error of a connection to the index at `path`.
    init(_ error: SQLiteError, path: String) {
        self = error.isBusy ? .busy(path: path) : .index(error)
    }

    /// The error of SQLite, if this is one.
    package var sqlite: SQLiteError? {
        if case .index(let error) = self { error } else { nil }
    }

    /// The error of a system call, if this is one.
    package var system: SystemError? {
        if case .file(let error) = self { error } else { nil }
    }

    /// The same error, or damage of the index if SQLite's code is one of `codes`.
    func asDamage(from codes: [Int32]) -> StoreError {
        guard let error = sqlite, codes.contains(error.code) else { return self }
        return .index(SQLiteError(extendedCode: SQLITE_CORRUPT, message: error.message, sql: error.sql))
    }

    /// The error number of a system call, or 0 for other errors.
    var errno: Int32 { system?.errno ?? 0 }

    /// The description of the failed call alone, to be quoted in another error.
    var cause: String { system?.description ?? sqlite?.description ?? description }

    /// Whether a path leads to nothing that could be a blob: ``SystemError/meansMissing``.
    var meansMissing: Bool { system?.meansMissing ?? false }

    /// Whether another connection or process holds a required lock.
    var isBusy: Bool {
        if case .busy = self { true } else { false }
    }

    /// Whether the index is damaged, or looks damaged.
    var isDamage: Bool { sqlite?.isDamage ?? false }

    /// Whether the index is missing, or is being replaced.
    var isIndexMissing: Bool { sqlite?.isCannotOpen ?? false }

    /// Whether a flag or a time limit has ended the statement.
    var isInterruption: Bool { sqlite?.isInterruption ?? false }

    /// Whether the error comes from SQLite or from the store's write lock.
    var isOfIndex: Bool {
        switch self {
        case .index, .busy: true
        default: false
        }
    }

    /// Whether an opening may have failed because of a full disk. SQLite reports a full disk as such only for writes.
    var mayBeFullDisk: Bool {
        if case .unusableDirectory = self { true } else { isFullDisk }
    }

    /// Whether the disk was full, or the quota of the user was used up.
    var isFullDisk: Bool { sqlite?.isFull ?? system?.isFull ?? false }
}

extension StoreError {
    /// Whether the store works but refuses this response.
    package var isRefusal: Bool {
        switch self {
        case .bodyTooLarge, .exceedsLimits, .headTooLarge, .removedMeanwhile: true
        default: false
        }
    }
}
