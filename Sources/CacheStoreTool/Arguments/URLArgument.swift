import CacheLoader
import CacheStore

/// A URL from the command line, as the loader takes it.
struct URLArgument {
    let text: String
    let key: CacheKey

    /// - Throws: ``Failure``; what cannot be loaded cannot be in the store either.
    init(_ text: String) throws(Failure) {
        self.text = text
        do throws(LoadError) {
            key = try .loading(text, partition: "")
        } catch {
            throw Failure(.broken, "\(error)")
        }
    }
}
