import CacheConfiguration
import CacheLoader
import CacheStore
import CacheTier
import Configuration
import Foundation
import HTTPCaching
import Testing

/// The table in Integrations/Configuration.md.
@Suite("The article about the keys")
struct ArticleTests {
    private struct Row: CustomTestStringConvertible {
        let key: String
        let variable: String
        let `default`: String

        var testDescription: String { key }
    }

    private static let rows: [Row] = {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try? String(contentsOf: package.appending(path: "Configuration.md"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return Row(key: code(cells[0]), variable: code(cells[1]), default: cells[3])
        }
    }()

    private static func code(_ cell: String) -> String { cell.trimmingCharacters(in: ["`"]) }

    @Test("has a row for each key, in order")
    func complete() {
        let keys =
            ResponseStore.Configuration.keys.map { "store.\($0.name)" }
            + HTTPCache.Configuration.keys.map { "cache.\($0.name)" }
            + ResourceLoader.Configuration.keys.map { "loader.\($0.name)" }
            + TierSettings.keys.map { "tier.\($0.name)" }
        #expect(Set(Self.rows.map(\.key)) == Set(keys))
        #expect(Self.rows.count == keys.count)
    }

    @Test("has the environment variable of each key")
    func variables() {
        for row in Self.rows { #expect(row.variable == EnvironmentVariablesProvider.variable(row.key)) }
    }

    // Other defaults depend on the store, the engine or the environment, or have no value.
    @Test(
        "has a default that changes nothing as a value",
        arguments: rows.filter { $0.default.wholeMatch(of: /`[^`]+`/) != nil })
    private func defaults(row: Row) async throws {
        let reader = ConfigReader.environment([row.key: Self.code(row.default)])
        switch row.key.prefix(while: { $0 != "." }) {
        case "store":
            let configuration = try await ResponseStore.Configuration(reader: reader)
            #expect(dumped(configuration) == dumped(ResponseStore.Configuration()))
        case "cache":
            let configuration = try await HTTPCache.Configuration(reader: reader)
            #expect(dumped(configuration) == dumped(HTTPCache.Configuration()))
        case "loader":
            let configuration = try await ResourceLoader.Configuration(reader: reader)
            #expect(dumped(configuration) == dumped(ResourceLoader.Configuration()))
        default:
            let configuration = try await SharedTier.Configuration(reader: reader)
            #expect(dumped(configuration) == dumped(SharedTier.Configuration()))
        }
    }

    private func dumped(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }
}
