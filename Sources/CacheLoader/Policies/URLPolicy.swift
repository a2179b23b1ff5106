package import CacheStore

/// A policy for the URLs that match a pattern.
///
/// A list of such policies is in ``ResourceLoader/Configuration/urlPolicies`` and
/// ``HTTPCache/Configuration/urlPolicies``. The first match changes the configured policy; the policy of the request
/// changes the result.
///
/// ```swift
/// configuration.urlPolicies = [
///     try URLPolicy("*.example.com/images/*", .immutable),
///     try URLPolicy("api.example.com", .init(staleIfError: .zero)),
///     try URLPolicy("/drafts/*", .revalidateAlways),
/// ]
/// ```
///
/// A pattern has the parts of a URL: `https://*.example.com:8443/images/*`. A part that is missing matches everything.
///
/// | part | matches |
/// |---|---|
/// | `http://`, `https://` | this scheme |
/// | `example.com` | this host, in upper or lower case |
/// | `*.example.com` | all hosts below `example.com`, but not `example.com` itself |
/// | `*` as the host | all hosts |
/// | `:8443` | this port; `:443` also matches an `https` URL without a port |
/// | `/images/*` | these paths, in which `*` is any text, slashes included. Nothing else is a wildcard |
/// | `/search?q=*` | path and query. A pattern without `?` matches the path alone, with any query |
///
/// Compares paths as bytes, in the form of ``Loaded/url``, without changing their percent-encoding.
///
/// Each pattern up to the first match costs a comparison of host and path. A path with several `*` can take a number of
/// steps that is the product of both lengths; hence the limit of ``maxPatternByteCount``.
public struct URLPolicy: Hashable, Sendable {
    /// The maximum length of a pattern in bytes: 1,024.
    public static let maxPatternByteCount = 1_024

    /// The text of the pattern.
    public let pattern: String
    /// The changes to the configured policy.
    public let policy: CachePolicy.Override

    private let compiled: URLPattern

    /// Creates a policy for the URLs that match `pattern`.
    ///
    /// - Throws: ``LoadError/invalidPattern(_:reason:)``.
    public init(_ pattern: String, _ policy: CachePolicy.Override) throws(LoadError) {
        guard pattern.utf8.count <= Self.maxPatternByteCount else {
            throw .invalidPattern(pattern, reason: "it has more than \(Self.maxPatternByteCount) bytes")
        }
        do throws(URLPattern.Malformed) {
            compiled = try URLPattern(pattern)
        } catch {
            throw .invalidPattern(pattern, reason: error.reason)
        }
        self.pattern = pattern
        self.policy = policy
    }

    package func matches(_ url: CacheKey) -> Bool { compiled.matches(url.text) }
}

extension CachePolicy {
    /// Returns this policy with the changes of the first of `policies` that matches a URL.
    func applying(_ policies: [URLPolicy], to url: CacheKey) -> CachePolicy {
        guard !policies.isEmpty, let first = policies.first(where: { $0.matches(url) }) else { return self }
        return applying(first.policy)
    }
}
