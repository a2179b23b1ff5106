/// Compares the stored properties of a value with their documented defaults.
///
///     var defaults = DocumentedDefaults(of: LaneWidths())
///     defaults.check("urgent") { $0.urgent == 6 }
///     …
///     #expect(defaults.differences == [])
///
/// A stored property without a check counts as a difference.
public struct DocumentedDefaults<Value> {
    private let value: Value
    private let properties: [String: Any]
    private var unchecked: Set<String>
    private var wrong: [String] = []

    /// Begins with no property checked.
    public init(of value: Value) {
        self.value = value
        let children = Mirror(reflecting: value).children.compactMap { child in child.label.map { ($0, child.value) } }
        properties = Dictionary(uniqueKeysWithValues: children)
        unchecked = Set(properties.keys)
    }

    /// Checks one property.
    public mutating func check(_ name: String, _ isDefault: (Value) -> Bool) {
        guard let property = properties[name] else { return wrong.append("there is no \(name)") }
        unchecked.remove(name)
        if !isDefault(value) { wrong.append("\(name) is \(property)") }
    }

    /// The properties that differ from their defaults or have no check, and the checks without a property.
    public var differences: [String] { wrong + unchecked.sorted().map { "\($0) has no check" } }
}
