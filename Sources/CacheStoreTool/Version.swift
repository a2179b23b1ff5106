/// The version of the tool.
enum Version {
    /// The text of `VERSION` at the root. SwiftPM embeds only files of a target's folder, so a test compares both.
    static let text = "0.9.0"
}
