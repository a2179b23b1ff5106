internal import Configuration

/// A key of a configuration, and the property that it sets.
package struct ConfigurationKey<Root: Sendable>: Sendable {
    /// The name below the scope, such as `maxBytes` or `policy.mode`.
    package let name: String
    /// Reads the value of the key with this full name. Returns its change of the configuration, or `nil` for an absent
    /// key.
    private let change: @Sendable (String, ConfigReader) async throws(ConfigurationError) -> Change?

    private typealias Change = @Sendable (inout Root) -> Void

    init<Value>(_ name: String, _ kind: AcceptedValue<Value>, set: @escaping @Sendable (inout Root, Value) -> Void) {
        self.name = name
        change = { (key, reader) async throws(ConfigurationError) -> Change? in
            guard let value = try await kind.value(of: key, from: reader) else { return nil }
            return { set(&$0, value) }
        }
    }

    init<Value>(_ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ kind: AcceptedValue<Value>) {
        self.init(name, kind) { $0[keyPath: path] = $1 }
    }

    /// A key without a value for `nil`, which only the default can mean.
    init<Value>(_ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, some kind: AcceptedValue<Value>) {
        self.init(name, kind) { $0[keyPath: path] = $1 }
    }

    /// The key of a part, such as `policy.mode` from the key `mode` of a policy. An empty name of the part adds
    /// nothing.
    init<Part>(_ part: String, _ path: any WritableKeyPath<Root, Part> & Sendable, _ key: ConfigurationKey<Part>) {
        name = part.isEmpty ? key.name : "\(part).\(key.name)"
        change = { (name, reader) async throws(ConfigurationError) -> Change? in
            guard let change = try await key.change(name, reader) else { return nil }
            return { change(&$0[keyPath: path]) }
        }
    }

    func apply(to root: inout Root, scope: String, _ reader: ConfigReader) async throws(ConfigurationError) {
        guard let change = try await change("\(scope).\(name)", reader) else { return }
        change(&root)
    }
}

extension Array {
    /// Returns the configuration with the values of all present keys.
    func applied<Root>(
        to defaults: Root, scope: String, _ reader: ConfigReader
    ) async throws(ConfigurationError) -> Root where Element == ConfigurationKey<Root> {
        var root = defaults
        for key in self { try await key.apply(to: &root, scope: scope, reader) }
        return root
    }
}
