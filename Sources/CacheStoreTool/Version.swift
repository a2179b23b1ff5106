/// The version of the tool.
package enum Version {
    /// The text of the file `VERSION` at the root of the package. SwiftPM embeds files of a target's own folder only; a
    /// test compares both.
    package static let text = "0.9.0"
}
