import CacheConfiguration
import CacheStoreTesting
import Configuration
import Foundation
import SystemPackage
import Testing

/// A key with a value other than the default, and its effect.
struct ConfigurationCase<Root: Sendable>: CustomTestStringConvertible, Sendable {
    let key: String
    /// The value in an environment variable.
    let text: String
    /// The value in JSON.
    let json: String
    let isSet: @Sendable (Root) -> Bool

    init(_ key: String, _ text: String, json: String? = nil, isSet: @escaping @Sendable (Root) -> Bool) {
        self.key = key
        self.text = text
        self.json = json ?? (Double(text) == nil && Bool(text) == nil ? "\"\(text)\"" : text)
        self.isSet = isSet
    }

    var testDescription: String { "\(key) = \(text)" }

    /// Checks the effect of the value, from the environment and from a file in JSON, and that the default differs.
    func check(
        _ scope: String, default root: Root, _ read: (ConfigReader) async throws -> Root,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(!isSet(root), "the value is the default", sourceLocation: sourceLocation)
        let environment = ConfigReader.environment(["\(scope).\(key)": text])
        #expect(isSet(try await read(environment)), "environment", sourceLocation: sourceLocation)
        let file = try await ConfigReader.file(["\(scope).\(key)": json])
        #expect(isSet(try await read(file)), "file", sourceLocation: sourceLocation)
    }
}

extension ConfigReader {
    /// Reads the values of keys from environment variables.
    static func environment(_ values: [String: String]) -> ConfigReader {
        ConfigReader(provider: EnvironmentVariablesProvider(environment: values))
    }

    /// Reads values, which are JSON, from a file.
    static func file(_ values: [String: String]) async throws -> ConfigReader {
        ConfigReader(provider: try await .file(values))
    }
}

extension EnvironmentVariablesProvider {
    init(environment values: [String: String]) {
        let variables = values.map { (Self.variable($0.key), $0.value) }
        self.init(environmentVariables: Dictionary(uniqueKeysWithValues: variables))
    }

    /// `store.maxBytes` is `STORE_MAX_BYTES`.
    static func variable(_ key: String) -> String {
        key.replacing(/([a-z])([A-Z])/) { "\($0.1)_\($0.2)" }.replacing(".", with: "_").uppercased()
    }
}

extension ConfigProvider where Self == FileProvider<JSONSnapshot> {
    static func file(_ values: [String: String]) async throws -> Self {
        var root: [String: Any] = [:]
        for (key, json) in values {
            let value = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
            Self.insert(value, at: key.split(separator: ".")[...], in: &root)
        }
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "configuration.json")
        try JSONSerialization.data(withJSONObject: root).write(to: file)
        let provider = try await FileProvider<JSONSnapshot>(filePath: FilePath(file.path(percentEncoded: false)))
        withExtendedLifetime(directory) {}
        return provider
    }

    private static func insert(_ value: Any, at path: ArraySlice<Substring>, in object: inout [String: Any]) {
        guard let name = path.first.map(String.init) else { return }
        guard path.count > 1 else { return object[name] = value }
        var inner = object[name] as? [String: Any] ?? [:]
        insert(value, at: path.dropFirst(), in: &inner)
        object[name] = inner
    }
}
