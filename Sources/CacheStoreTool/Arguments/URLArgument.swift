import ArgumentParser
import CacheLoader
import CacheStore

/// A URL from the command line, parsed by the loader.
struct URLArgument {
    let text: String
    let key: CacheKey

    /// - Throws: `ValidationError` for a URL that the loader rejects. The store cannot contain such a URL either.
    init(_ text: String) throws {
        self.text = text
        do throws(LoadError) {
            key = try .loading(text, partition: "")
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Ends the command with a usage error if the loader rejects the URL.
    static func validate(_ text: String) throws {
        _ = try URLArgument(text)
    }
}
