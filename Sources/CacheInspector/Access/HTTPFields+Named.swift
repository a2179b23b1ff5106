package import HTTPTypes

extension HTTPFields {
    /// The combined value of a field that has no constant.
    package subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(name) { self[name] = newValue } }
    }
}
