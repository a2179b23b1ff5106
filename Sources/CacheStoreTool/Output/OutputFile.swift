import Foundation

/// A file that is replaced atomically: readers see all old bytes or all new bytes. Writes to a temporary file in the
/// same directory, then renames it. Writes directly to a path that is not a regular file, such as `/dev/null`.
struct OutputFile {
    let path: String

    func write(_ data: Data) throws {
        try write { part in try part(data) }
    }

    /// Writes a file in parts. After an error of `body`, the old file stays.
    func write(_ body: (_ part: (Data) throws(Failure) -> Void) throws -> Void) throws {
        let file = try open(mode: 0o666)
        do {
            try body { (data) throws(Failure) in
                let failure = data.writeAll(to: file.descriptor)
                if failure != 0 { throw .system(path, errno: failure) }
            }
        } catch {
            file.discard()
            throw error
        }
        try file.keep()
    }

    private func open(mode: mode_t) throws(Failure) -> PendingFile {
        var existing = stat()
        guard stat(path, &existing) == 0 else { return try PendingFile(replacing: path, named: path, mode: mode) }
        switch existing.st_mode & S_IFMT {
        case S_IFREG:
            // Resolves a symbolic link, to replace its target instead of the link.
            guard let target = realpath(path, nil) else { throw .system(path, errno: errno) }
            defer { free(target) }
            let file = try PendingFile(replacing: String(cString: target), named: path, mode: mode)
            guard fchmod(file.descriptor, existing.st_mode & 0o7777) == 0 else {
                let code = errno
                file.discard()
                throw .system(path, errno: code)
            }
            return file
        case S_IFDIR:
            throw .system(path, errno: EISDIR)
        default:
            return try PendingFile(writingTo: path)
        }
    }
}

/// An open file for the new bytes. Either ``keep()`` or ``discard()`` closes it.
private struct PendingFile {
    let descriptor: Int32
    /// The path from the command line.
    private let path: String
    /// The temporary and the final name, or `nil` for a file that already has its final name.
    private let names: (temporary: String, target: String)?

    init(writingTo path: String) throws(Failure) {
        descriptor = open(path, O_WRONLY)
        self.path = path
        names = nil
        guard descriptor >= 0 else { throw .system(path, errno: errno) }
    }

    init(replacing target: String, named path: String, mode: mode_t) throws(Failure) {
        let directory = target.lastIndex(of: "/").map { target[...$0] } ?? ""
        let temporary = directory + ".cachestore-" + String(UInt64.random(in: .min ... .max), radix: 36)
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
        self.path = path
        names = (temporary, target)
        guard descriptor >= 0 else { throw .system(path, errno: errno) }
    }

    func keep() throws(Failure) {
        var isKept = close(descriptor) == 0
        if isKept, let names { isKept = rename(names.temporary, names.target) == 0 }
        guard isKept else {
            let code = errno
            if let names { unlink(names.temporary) }
            throw .system(path, errno: code)
        }
    }

    func discard() {
        close(descriptor)
        if let names { unlink(names.temporary) }
    }
}
