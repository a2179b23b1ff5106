import TestSupport

/// Drops the rights of root, so that permissions apply. Irreversible: only for child processes of exit tests.
enum Unprivileged {
    /// Makes `path` and everything below it writable again, so that a test can remove it.
    static func restore(_ path: String) {
        chmod(path, 0o700)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { restore(path + "/" + name) }
    }

    /// Makes everything below `path` read-only for all users, then gives up the rights of root.
    static func become(ownerOf path: String) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isDirectory: ObjCBool = false
            let item = path + "/" + name
            _ = FileManager.default.fileExists(atPath: item, isDirectory: &isDirectory)
            chmod(item, isDirectory.boolValue ? 0o555 : 0o444)
        }
        chmod(path, 0o555)
        giveUpRoot()
    }

    /// Does nothing in a process without the rights of root.
    static func giveUpRoot() {
        if geteuid() == 0 { precondition(setuid(65_534) == 0, "cannot give up the rights of root") }
    }
}
