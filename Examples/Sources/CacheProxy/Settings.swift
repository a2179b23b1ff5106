internal import ArgumentParser
internal import Configuration
internal import Logging
internal import SystemPackage

/// The values of the command line, the environment and the file, in this order of precedence.
struct Settings {
    let listen: ListenAddress
    let origin: OriginAddress?
    let originHost: Bool
    let hosts: [String]
    let rootCertificates: String?
    let directory: String
    let metrics: ListenAddress?
    let logLevel: Logger.Level
    /// Reads the keys of the store, the cache and the tier.
    let reader: ConfigReader

    init(_ options: CacheProxy) async throws {
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "command line", values: options.values),
            EnvironmentVariablesProvider().prefixKeys(with: "cacheproxy"),
        ]
        if let file = options.config {
            do {
                providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(file)))
            } catch {
                throw ValidationError("\(file) cannot be read as JSON: \(error)")
            }
        }
        let reader = ConfigReader(providers: providers)
        self.reader = reader
        listen = try await Self.value(options.listen, "listen", reader, needs: "host:port").required("listen")
        origin = try await Self.value(options.origin, "origin", reader, needs: "http://host:port or https://host:port")
        originHost = try await reader.fetchBool(forKey: "originHost", default: false)
        // Unknown keys have no effect: this one, named like the option, would leave the proxy open to all hosts.
        guard try await reader.fetchStringArray(forKey: "host") == nil else {
            throw ValidationError("the key of the option --host is hosts")
        }
        hosts = try await reader.fetchStringArray(forKey: "hosts", default: []).filter { !$0.isEmpty }
        rootCertificates = try await reader.fetchString(forKey: "cacert")
        directory = try await reader.fetchString(forKey: "store.directory").required("store.directory")
        metrics = try await Self.value(options.metrics, "metrics", reader, needs: "host:port")
        logLevel = try await reader.fetchString(forKey: "logLevel", as: Logger.Level.self, default: .info)
    }

    private static func value<Value: ExpressibleByArgument>(
        _ option: Value?, _ key: String, _ reader: ConfigReader, needs form: String
    ) async throws -> Value? {
        if let option { return option }
        guard let text = try await reader.fetchString(forKey: ConfigKey(key)) else { return nil }
        guard let value = Value(argument: text) else { throw ValidationError("\(key) needs \(form)") }
        return value
    }
}

extension Optional {
    fileprivate func required(_ key: String) throws -> Wrapped {
        guard let self else {
            throw ValidationError("\(key) has no value on the command line, in the environment or in the file")
        }
        return self
    }
}

extension CacheProxy {
    /// The values of the options, by key.
    fileprivate var values: [AbsoluteConfigKey: ConfigValue] {
        var contents: [AbsoluteConfigKey: ConfigContent] = [:]
        contents["store.directory"] = store.map { .string($0) }
        contents["store.maxBytes"] = maxBytes.map { .string("\($0)") }
        contents["cacert"] = rootCertificates.map { .string($0) }
        contents["tier.url"] = tier.map { .string($0) }
        contents["tier.partition"] = tierPartition.map { .string($0) }
        contents["tier.deadline"] = tierDeadline.map { .string("\(Int64(($0 * 1000).rounded()))ms") }
        if originHost { contents["originHost"] = .bool(true) }
        if shared { contents["cache.policy.isShared"] = .bool(true) }
        if !host.isEmpty { contents["hosts"] = .stringArray(host) }
        if !targeted.isEmpty { contents["cache.policy.targetedFields"] = .stringArray(targeted.map(\.name)) }
        return contents.mapValues { ConfigValue($0, isSecret: false) }
    }
}
