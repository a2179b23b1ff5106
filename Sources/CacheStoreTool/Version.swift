/// The version of the tool.
package enum Version {
    /// The text of `VERSION` at the root. SwiftPM embeds only files of a target's folder, so a test compares both.
    package static let text = "0.9.0"
}
