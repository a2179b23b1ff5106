import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes

extension StoreInspector {
    private struct Question: Decodable {
        let text: String
        let at: Int64?
        let shared: Bool?
        let partition: String?
        let policy: String?
    }

    /// Explains the decision on a request, now or at another time.
    func why(_ content: [UInt8]) throws -> JSON {
        let question = try decode(Question.self, content)
        guard let policy = PolicyName(rawValue: question.policy ?? "http")?.policy else {
            throw InspectorFailure.invalid(
                "policy must be one of \(PolicyName.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        // ISO 8601 has four-digit years only within this range.
        if let at = question.at, !(0...253_402_300_799_000).contains(at) {
            throw InspectorFailure.invalid("at must be milliseconds from 1970 to 9999")
        }
        let command = try CurlCommand(question.text)
        let now = question.at.map { Date(milliseconds: $0) } ?? store.configuration.clock()
        var configuration = HTTPCache.Configuration()
        configuration.policy.isShared = question.shared ?? false
        configuration.partition = question.partition ?? ""
        configuration.clock = { now }
        let transport = SilentTransport(isBare: command.isCurl)
        let cache = HTTPCache(store: store, transport: transport, configuration: configuration)
        let explanation: Explanation
        do throws(LoadError) {
            explanation = try cache.explanation(
                of: command.request, content: command.content.map { RequestContent(Data($0.utf8)) }, policy: policy)
        } catch {
            guard case .invalidURL = error else { throw error }
            throw InspectorFailure.invalid("\(error)")
        }
        return [
            "request": [
                "method": .text(command.request.method.rawValue),
                "url": .text(explanation.url),
                "fields": .array(
                    transport.prepare(command.request).headerFields.map { field in
                        [
                            "name": .text(field.name.rawName),
                            "value": Self.isSecret(field.name) ? nil : .text(field.value.cut(to: 4_096)),
                            "is_secret": .bool(Self.isSecret(field.name)),
                        ]
                    }),
            ],
            "ignored": .array(command.ignored.map { .text($0) }),
            "at": .integer(now.milliseconds),
            "explanation": explanation.json,
        ]
    }
}
