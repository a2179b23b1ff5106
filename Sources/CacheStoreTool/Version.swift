/// The version of the tool.
package enum Version {
    /// The text of the file `VERSION` at the root of the package. SwiftPM embeds only files in a target's folder, so a
    /// test compares both texts.
    package static let text = "0.9.0"
}
