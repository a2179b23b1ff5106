import Foundation

extension URL {
    /// Gives an altered file the time that it would have if it had been altered later. Some file systems count time in
    /// steps of milliseconds.
    package func alteredLater() throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 1)], ofItemAtPath: path(percentEncoded: false))
    }
}
