public import ArgumentParser
public import HTTPTypes

extension HTTPField: @retroactive ExpressibleByArgument {
    /// Creates a field from `Name: value`.
    public init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"),
            let name = HTTPField.Name(String(argument[..<colon])),
            let value = FieldValue(argument: String(argument[argument.index(after: colon)...]))
        else { return nil }
        self.init(name: name, value: value.text)
    }
}

/// The value of a header field.
struct FieldValue: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        let text = String(argument.drop { $0 == " " || $0 == "\t" })
        guard HTTPField.isValidValue(text) else { return nil }
        self.text = text
    }
}
