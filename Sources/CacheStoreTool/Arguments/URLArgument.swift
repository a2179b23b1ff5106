import CacheLoader
import CacheStore
import HTTPTypes

/// A URL from the command line, parsed by the loader.
struct URLArgument {
    let text: String
    let key: CacheKey

    /// - Throws: ``Failure`` for a URL that the loader rejects; the store cannot contain it either.
    init(_ text: String) throws(Failure) {
        self.text = text
        do throws(LoadError) {
            key = try .loading(text, partition: "")
        } catch {
            throw Failure(.broken, "\(error)")
        }
    }

    /// Returns a GET of the URL, in the form in which a cache requests it.
    func request(_ fields: HTTPFields) -> HTTPRequest {
        let parts = key.text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return HTTPRequest(
            method: .get, scheme: String(parts[0].dropLast()), authority: String(parts[2]), path: "/\(parts[3])",
            headerFields: fields)
    }
}
