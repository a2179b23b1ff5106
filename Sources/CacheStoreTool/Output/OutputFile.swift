import Foundation

/// A file that is seen as it was before, or with all its new bytes.
///
/// The bytes go to a file beside it, which then takes its name. What is no regular file, such as `/dev/null`, is written
/// to, not replaced.
struct OutputFile {
    let path: String

    func write(_ data: Data) throws(Failure) {
        var existing = stat()
        guard stat(path, &existing) == 0 else { return try replace(path, with: data, mode: nil) }
        switch existing.st_mode & S_IFMT {
        case S_IFREG:
            // Through a symbolic link, so that what it names is replaced, and not the link.
            guard let target = realpath(path, nil) else { throw .system(path, errno: errno) }
            defer { free(target) }
            try replace(String(cString: target), with: data, mode: existing.st_mode & 0o7777)
        case S_IFDIR:
            throw .system(path, errno: EISDIR)
        default:
            try fill(open(path, O_WRONLY), with: data)
        }
    }

    /// - Parameter mode: The permissions of the file that is replaced; `nil` for those that a new file gets.
    private func replace(_ target: String, with data: Data, mode: mode_t?) throws(Failure) {
        let directory = target.lastIndex(of: "/").map { target[...$0] } ?? ""
        let temporary = directory + ".cachestore-" + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(Failure) {
            try fill(open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o666), with: data)
            if let mode, chmod(temporary, mode) != 0 { throw .system(path, errno: errno) }
            guard rename(temporary, target) == 0 else { throw .system(path, errno: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private func fill(_ descriptor: Int32, with data: Data) throws(Failure) {
        guard descriptor >= 0 else { throw .system(path, errno: errno) }
        let failure = data.writeAll(to: descriptor)
        guard close(descriptor) == 0 || failure != 0 else { throw .system(path, errno: errno) }
        guard failure == 0 else { throw .system(path, errno: failure) }
    }
}
