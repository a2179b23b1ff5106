import CacheLoader
import CacheStore

/// A URL from the command line, parsed by the loader.
struct URLArgument {
    let text: String
    let key: CacheKey

    /// - Throws: ``Failure`` for a URL that the loader rejects. The store cannot contain such a URL either.
    init(_ text: String) throws(Failure) {
        self.text = text
        do throws(LoadError) {
            key = try .loading(text, partition: "")
        } catch {
            throw Failure(.broken, "\(error)")
        }
    }
}
