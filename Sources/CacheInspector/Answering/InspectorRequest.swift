import Foundation
package import HTTPTypes

/// A request to the inspector, relative to its mount path.
package struct InspectorRequest: Sendable {
    var method: HTTPRequest.Method
    /// The path after the mount, without a leading slash: `api/entries`; empty for the page itself.
    var path: String
    /// The parameters of the query.
    var query: QueryParameters
    var fields: HTTPFields
    var content: [UInt8]

    package init(
        _ method: HTTPRequest.Method, _ path: String, query: String = "", fields: HTTPFields = [:],
        content: [UInt8] = []
    ) throws(InspectorFailure) {
        self.method = method
        self.path = path
        self.query = try QueryParameters(query)
        self.fields = fields
        self.content = content
    }
}

/// The form-encoded parameters of a query.
struct QueryParameters: Sendable {
    private static let maxCount = 64

    private var values: [String: String] = [:]

    /// Throws for a malformed escape, for text that is not UTF-8, and for a repeated name, which would be ambiguous.
    init(_ text: String) throws(InspectorFailure) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw .invalid("the query is not percent-encoded UTF-8")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw .invalid("the parameter \(name) occurs twice")
            }
            guard values.count <= Self.maxCount else { throw .invalid("the query has too many parameters") }
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    // MARK: Reading

    /// The value, or `nil` for a missing or empty parameter.
    func text(_ name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value, possibly empty, or `nil` for a missing parameter.
    func given(_ name: String) -> String? { values[name] }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(InspectorFailure) -> Int64? {
        guard let text = text(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .invalid("\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func bool(_ name: String) throws(InspectorFailure) -> Bool {
        switch text(name) {
        case nil, "false", "0": return false
        case "true", "1": return true
        default: throw .invalid("\(name) must be true or false")
        }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(InspectorFailure) -> Choice? {
        guard let text = text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("\(name) must be one of \(names)")
        }
        return choice
    }
}
