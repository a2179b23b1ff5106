internal import Configuration

/// The type of a value that a provider is asked for.
enum ValueForm: Sendable {
    case flag, integer, number, text, textOrInteger, list, secret
}

/// A value as a provider returns it.
enum RawValue: Sendable {
    case flag(Bool), integer(Int), number(Double), text(String), list([String])

    var text: String? { if case .text(let text) = self { text } else { nil } }

    var integer: Int? {
        switch self {
        case .integer(let integer): integer
        case .text(let text): Int(text)
        default: nil
        }
    }
}

/// A kind of values: their form, and their conversion.
struct AcceptedValue<Value: Sendable>: Sendable {
    /// The accepted values, after "needs".
    let description: String
    let form: ValueForm
    /// Returns `nil` for a value that is not accepted.
    let convert: @Sendable (RawValue) -> Value?

    init(_ description: String, _ form: ValueForm, convert: @escaping @Sendable (RawValue) -> Value?) {
        self.description = description
        self.form = form
        self.convert = convert
    }

    /// Returns the value of a key, or `nil` for an absent key.
    ///
    /// Fetches, because `int(forKey:)` and its like return `nil` for an absent key and for a value of another type.
    func value(of key: String, from reader: ConfigReader) async throws(ConfigurationError) -> Value? {
        let raw: RawValue?
        do {
            raw = try await fetch(ConfigKey(key), from: reader)
        } catch {
            // The error of a provider may quote the value.
            if form == .secret { throw .invalidValue(key: key, accepted: description) }
            throw .unreadable(key: key, accepted: description, cause: error)
        }
        guard let raw else { return nil }
        guard let value = convert(raw) else { throw .invalidValue(key: key, accepted: description) }
        return value
    }

    private func fetch(_ key: ConfigKey, from reader: ConfigReader) async throws -> RawValue? {
        switch form {
        case .flag: return try await reader.fetchBool(forKey: key).map(RawValue.flag)
        case .integer: return try await reader.fetchInt(forKey: key).map(RawValue.integer)
        case .number: return try await reader.fetchDouble(forKey: key).map(RawValue.number)
        case .text: return try await reader.fetchString(forKey: key).map(RawValue.text)
        case .secret: return try await reader.fetchString(forKey: key, isSecret: true).map(RawValue.text)
        case .list: return try await reader.fetchStringArray(forKey: key).map(RawValue.list)
        case .textOrInteger:
            do {
                return try await reader.fetchString(forKey: key).map(RawValue.text)
            } catch {
                // A number in JSON is no text.
                guard let integer = try? await reader.fetchInt(forKey: key) else { throw error }
                return .integer(integer)
            }
        }
    }
}

// MARK: Kinds

extension AcceptedValue<Bool> {
    static let flag = Self("true or false", .flag) { raw in if case .flag(let flag) = raw { flag } else { nil } }
}

extension AcceptedValue<Int> {
    static func count(from least: Int) -> Self {
        Self("a whole number from \(least)", .integer) { $0.integer.flatMap { $0 >= least ? $0 : nil } }
    }
}

extension AcceptedValue<Double> {
    static let share = Self("a number from 0 to 1", .number) { raw in
        if case .number(let number) = raw, (0...1).contains(number) { number } else { nil }
    }
}

extension AcceptedValue where Value: FixedWidthInteger {
    static var bytes: Self {
        Self("a number of bytes such as 1048576, 512MB or 1.5GiB", .textOrInteger) { raw in
            let byteCount = raw.text.map { ByteLimit(argument: $0)?.byteCount } ?? raw.integer.map(Int64.init)
            return byteCount.flatMap { $0 >= 0 ? Value(exactly: $0) : nil }
        }
    }
}

extension AcceptedValue<Duration> {
    private static let examples = "such as 250ms, 1.5s, 15m, 12h or 30d"

    static let duration = Self("a duration \(examples)", .text) { $0.text.flatMap(Duration.init(text:)) }

    static let positiveDuration = Self("a duration \(examples), longer than 0s", .text) { raw in
        raw.text.flatMap(Duration.init(text:)).flatMap { $0 > .zero ? $0 : nil }
    }

    /// The deadline of a request to a tier, as in the option `--tier-deadline` of the tool.
    static let deadline = Self("a duration \(examples), longer than 0s and at most 1h", .text) { raw in
        raw.text.flatMap(Duration.init(text:)).flatMap { $0 > .zero && $0 <= .seconds(3600) ? $0 : nil }
    }

    /// A duration, or the longest one.
    static let longDuration = Self("a duration \(examples), or unlimited", .text) { raw in
        raw.text.flatMap { $0 == "unlimited" ? .seconds(Int64.max) : Duration(text: $0) }
    }
}

extension AcceptedValue<String> {
    static let anyText = Self("a text", .text, convert: \.text)

    static let nonEmptyText = Self("a text that is not empty", .text) { raw in
        raw.text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension AcceptedValue {
    /// One of some names.
    static func choice(_ choices: KeyValuePairs<String, Value>) -> Self {
        let names = choices.map(\.key)
        let values = Dictionary(uniqueKeysWithValues: choices.map { ($0.key, $0.value) })
        let description = "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
        return Self(description, .text) { $0.text.flatMap { values[$0] } }
    }

    /// A list whose elements all convert. Separated by commas in an environment variable, whose empty value is an empty
    /// list.
    static func list<Element>(
        of elements: String, convert: @escaping @Sendable (String) -> Element?
    ) -> Self where Value == [Element] {
        Self("a list of \(elements)", .list) { raw in
            guard case .list(let texts) = raw else { return nil }
            if texts == [""] { return [] }
            let values = texts.compactMap(convert)
            return values.count == texts.count ? values : nil
        }
    }

    /// The values of another kind, or the text `unlimited` for `nil`.
    static func unlimited<Wrapped>(_ kind: AcceptedValue<Wrapped>) -> Self where Value == Wrapped? {
        let form: ValueForm = kind.form == .text ? .text : .textOrInteger
        return Self("\(kind.description), or unlimited", form) { raw in
            raw.text == "unlimited" ? .some(nil) : kind.convert(raw).map { .some($0) }
        }
    }
}
