/// What went into an archive, or came out of one.
public struct ArchiveReport: Hashable, Sendable {
    /// Entries with their bodies.
    public internal(set) var entries = 0
    /// Files of bodies.
    public internal(set) var files = 0
    /// The bytes of these files.
    public internal(set) var bytes: Int64 = 0
    /// Entries left out: their body was gone when it was to be written, or is missing or damaged in the archive.
    public internal(set) var entriesLeftOut = 0
}
