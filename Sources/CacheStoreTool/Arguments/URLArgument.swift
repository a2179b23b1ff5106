import CacheLoader
import CacheStore
import Foundation

/// A URL from the command line, as the loader takes it.
struct URLArgument {
    let text: String
    let key: CacheKey

    /// - Throws: ``Failure``; what cannot be loaded cannot be in the store either.
    init(_ text: String) throws(Failure) {
        self.text = text
        do {
            guard let url = URL(string: text) else { throw LoadError.invalidURL(text, reason: "it is not a URL") }
            key = try CacheKey(url: url)
            guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
                throw LoadError.invalidURL(text, reason: "its scheme is not http or https")
            }
        } catch StoreError.invalidKey(_, let reason) {
            throw Failure(.broken, "\(LoadError.invalidURL(text, reason: reason))")
        } catch {
            throw Failure(.broken, "\(error)")
        }
    }
}
