internal import ArgumentParser
internal import HTTPTypes

/// The name of a targeted field (RFC 9213), such as `CDN-Cache-Control`.
struct TargetedField: ExpressibleByArgument {
    let name: String

    /// Rejects invalid field names, and the fields that a targeted field replaces.
    init?(argument: String) {
        guard let name = HTTPField.Name(argument), !["cache-control", "expires"].contains(name.canonicalName) else {
            return nil
        }
        self.name = name.rawName
    }
}
