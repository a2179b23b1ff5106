internal import CacheFoundation

extension ResourceLoader {
    /// Reads the file that a request names by a path or a `file` URL. Returns `nil` for any other request.
    func loadFile(_ request: ResourceRequest) throws(LoadError) -> Loaded<Data>? {
        guard let path = Self.path(request.url), configuration.loadsFiles else { return nil }
        let limit = configuration.maxBodyBytes
        let data: Data
        do {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: URL(filePath: path).resolvingSymlinksInPath().path)
            // A pipe or a device may have no end.
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw LoadError.unreadableFile(path: path, reason: "it is no regular file")
            }
            guard attributes[.size] as? Int64 ?? 0 <= limit else {
                throw LoadError.bodyTooLarge(url: request.url, limit: limit)
            }
            data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        } catch let error as LoadError {
            throw error
        } catch {
            throw .unreadableFile(path: path, reason: "\(error)")
        }
        // The file may have grown since its size was read.
        guard Int64(data.count) <= limit else { throw .bodyTooLarge(url: request.url, limit: limit) }
        return Loaded<Data>(data, of: request.url)
    }

    /// RFC 8089 §2: a `file` URL has no host, or names this machine.
    private static func path(_ text: String) -> String? {
        if text.hasPrefix("/") { return text.hasPrefix("//") ? nil : text }
        guard text.utf8.prefix(5).elementsEqual("file:".utf8, by: { $0 | 0x20 == $1 }), let url = URL(string: text),
            url.isFileURL
        else { return nil }
        guard [nil, "", "localhost"].contains(url.host()?.lowercased()) else { return nil }
        let path = url.path(percentEncoded: false)
        return path.hasPrefix("/") ? path : nil
    }
}
