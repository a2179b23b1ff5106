internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ResourceLoader {
    /// The file that a request names by its path, or by a `file` URL; `nil` if it names none.
    func loadFile(_ request: ResourceRequest) async throws(LoadError) -> Resource? {
        guard let path = Self.path(request.url), configuration.loadsFiles else { return nil }
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        } catch {
            throw .unreadableFile(path: path, reason: "\(error)")
        }
        guard Int64(data.count) <= configuration.maxBodyBytes else {
            throw .bodyTooLarge(url: request.url, limit: configuration.maxBodyBytes)
        }
        return Resource(
            value: data, url: request.url, status: .ok, headerFields: [:], source: .local, age: 0, isStale: false,
            expiresAt: nil, failure: nil)
    }

    /// The absolute path in a text; RFC 8089 §2: a `file` URL without a host, or with that of this machine.
    private static func path(_ text: String) -> String? {
        if text.hasPrefix("/") { return text.hasPrefix("//") ? nil : text }
        guard text.prefix(5).lowercased() == "file:", let url = URL(string: text), url.isFileURL else { return nil }
        guard [nil, "", "localhost"].contains(url.host()?.lowercased()) else { return nil }
        let path = url.path(percentEncoded: false)
        return path.hasPrefix("/") ? path : nil
    }
}
