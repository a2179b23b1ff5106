import TestSupport

/// The synced state of a disk, and the changes that a power cut may lose: the guarantees of POSIX, and no more.
///
/// `fsync` of a file makes its bytes and its length durable, but not its name. `fsync` of a folder makes its names
/// durable. Any other change may arrive, or not, in any order. A disk writes sectors whole.
struct Disk {
    private static let sectorByteCount = 512

    /// Selects the unsynced changes that are lost.
    enum Loss {
        /// All unsynced changes are lost.
        case everything
        /// Names and lengths survive; bytes that were never synced are zero.
        case bytes
        /// Each sector, length and name survives or is lost.
        case some(seed: UInt64)
    }

    private enum ByteChange {
        case write(at: Int, [UInt8])
        case resize(to: Int)
    }

    private enum NameChange {
        case set(String, ChangeLog.File)
        case remove(String)
    }

    private struct File {
        var isDirectory = false
        var bytes: [UInt8] = []
        var byteChanges: [ByteChange] = []
        var names: [String: ChangeLog.File] = [:]
        var nameChanges: [NameChange] = []
    }

    private var files: [ChangeLog.File: File] = [:]
    /// The names as the running program sees them; a rename reads them.
    private var current: [ChangeLog.File: [String: ChangeLog.File]] = [:]

    // MARK: Before the cut

    mutating func apply(_ change: ChangeLog.Change) {
        switch change {
        case .note: break
        case .create(let file, let isDirectory): files[file] = File(isDirectory: isDirectory)
        case .write(let file, let offset, let bytes): files[file]?.byteChanges.append(.write(at: offset, bytes))
        case .resize(let file, let size): files[file]?.byteChanges.append(.resize(to: size))
        case .link(let file, let folder, let name): set(name, file, in: folder)
        case .unlink(let folder, let name): remove(name, in: folder)
        case .rename(let folder, let name, let newFolder, let newName):
            if let file = current[folder]?[name] { set(newName, file, in: newFolder) }
            remove(name, in: folder)
        case .sync(let file): sync(file)
        }
    }

    private mutating func set(_ name: String, _ file: ChangeLog.File, in folder: ChangeLog.File) {
        current[folder, default: [:]][name] = file
        files[folder]?.nameChanges.append(.set(name, file))
    }

    private mutating func remove(_ name: String, in folder: ChangeLog.File) {
        current[folder]?[name] = nil
        files[folder]?.nameChanges.append(.remove(name))
    }

    private mutating func sync(_ file: ChangeLog.File) {
        guard var synced = files[file] else { return }
        for change in synced.byteChanges { Self.perform(change, on: &synced.bytes) }
        for change in synced.nameChanges { Self.perform(change, on: &synced.names) }
        (synced.byteChanges, synced.nameChanges) = ([], [])
        files[file] = synced
    }

    private static func perform(_ change: ByteChange, on bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let written):
            let end = offset + written.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: written)
        case .resize(let size):
            if size < bytes.count { bytes.removeLast(bytes.count - size) }
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
        }
    }

    private static func perform(_ change: NameChange, on names: inout [String: ChangeLog.File]) {
        switch change {
        case .set(let name, let file): names[name] = file
        case .remove(let name): names[name] = nil
        }
    }

    // MARK: After the cut

    /// The content of the disk after a power cut now: the bytes of files by path, `nil` for folders.
    func remains(_ loss: Loss) -> [String: [UInt8]?] {
        var generator = SeededLoss(loss)
        var found: [String: [UInt8]?] = [:]
        collect(.root, "", &generator, &found)
        return found
    }

    private func collect(
        _ folder: ChangeLog.File, _ path: String, _ loss: inout SeededLoss, _ found: inout [String: [UInt8]?]
    ) {
        guard let directory = files[folder] else { return }
        var names = directory.names
        for change in directory.nameChanges where loss.keepsName() { Self.perform(change, on: &names) }
        // Sorted, so that a seed repeats the run.
        for (name, number) in names.sorted(by: { $0.key < $1.key }) {
            guard let file = files[number] else { continue }
            if file.isDirectory {
                found[path + name] = .some(nil)
                collect(number, path + name + "/", &loss, &found)
            } else {
                found[path + name] = Self.bytes(of: file, &loss)
            }
        }
    }

    private static func bytes(of file: File, _ loss: inout SeededLoss) -> [UInt8] {
        switch loss.kind {
        case .everything: return file.bytes
        case .bytes:
            var bytes = file.bytes
            for change in file.byteChanges {
                guard case .write(let offset, let written) = change else {
                    perform(change, on: &bytes)
                    continue
                }
                // Existing bytes stay; only the length changes.
                perform(.resize(to: max(bytes.count, offset + written.count)), on: &bytes)
            }
            return bytes
        case .some:
            var bytes = file.bytes
            for change in file.byteChanges {
                guard case .write(let offset, let written) = change else {
                    if loss.keeps() { perform(change, on: &bytes) }
                    continue
                }
                var start = 0
                while start < written.count {
                    let end = min(written.count, start + sectorByteCount - (offset + start) % sectorByteCount)
                    if loss.keeps() { perform(.write(at: offset + start, Array(written[start..<end])), on: &bytes) }
                    start = end
                }
            }
            return bytes
        }
    }
}

/// Decides which changes are lost.
private struct SeededLoss {
    let kind: Disk.Loss
    private var state: UInt64 = 0
    /// Not always a half: many sectors survive or vanish together only if nearly all of them do.
    private var threshold: UInt64 = 0

    init(_ kind: Disk.Loss) {
        self.kind = kind
        guard case .some(let seed) = kind else { return }
        state = seed
        threshold = [8, 32, 64, 96, 120][Int(seed % 5)]
    }

    mutating func keepsName() -> Bool {
        switch kind {
        case .everything: false
        case .bytes: true
        case .some: keeps()
        }
    }

    mutating func keeps() -> Bool {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % 128 < threshold
    }
}
