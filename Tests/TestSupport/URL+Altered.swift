extension URL {
    /// Gives an altered file a later modification time. Some file systems count time in steps of milliseconds, so that
    /// a quick change would not show.
    package func alteredLater() throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 1)], ofItemAtPath: path(percentEncoded: false))
    }
}
