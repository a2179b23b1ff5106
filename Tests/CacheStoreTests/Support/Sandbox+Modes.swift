import TestSupport

extension Sandbox {
    /// The permissions of all files in the store, by relative path.
    func modes() throws -> [String: Int] {
        var modes: [String: Int] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + [""] {
            // A file below `staging` may vanish at any time.
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            modes[name] = (attributes?[.posixPermissions] as? NSNumber)?.intValue
        }
        return modes
    }
}
