import Foundation

extension Sandbox {
    /// The permissions of everything in the store, by its path relative to the store.
    func modes() throws -> [String: Int] {
        var modes: [String: Int] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + [""] {
            // A file below `staging` may go at any time.
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            modes[name] = (attributes?[.posixPermissions] as? NSNumber)?.intValue
        }
        return modes
    }
}
