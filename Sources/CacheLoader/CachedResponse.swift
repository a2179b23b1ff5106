internal import CacheStore
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where an answer came from.
@nonexhaustive
public enum ResponseSource: String, Sendable, CaseIterable {
    /// From the memory of the loader.
    case memory
    /// From a file that the URL names, or from the program, which had it already.
    case local
    /// From the origin, in full.
    case network
    /// From the store, without asking the origin.
    case disk
    /// From the store, after the origin said that nothing has changed.
    case notModified
    /// From the cache itself, in place of a response that it could not get.
    case generated
}

/// A response, and how it came about.
public struct CachedResponse: Sendable {
    /// Status and fields. From the store they carry `Age`; what is about one connection only is left out (RFC 9111 §3.1).
    public let head: HTTPResponse
    /// The body, which streams.
    public let body: ResponseBody
    /// Where it came from.
    public let source: ResponseSource
    /// How long ago the origin said so, in seconds (RFC 9111 §4.2.3).
    public let age: Int64
    /// Whether it was delivered beyond its lifetime, as request, response or policy allow.
    public let isStale: Bool
    /// When it turns stale; `nil` if it is never fresh without asking.
    public let expiresAt: Date?
    /// The failure that this response stands for: it is a 502 or 504 that the cache made itself, or a stored response in
    /// place of an answer that the origin did not give.
    public internal(set) var failure: LoadError?

    /// What it is from, when it is from the store.
    var stored: StoredEntry?
    /// What is stored while it arrives.
    var arriving: SharedBody?
    /// Where the removals from the store stood when the origin was asked; `nil` when it was not.
    var generation: StoreGeneration?

    /// What the store holds of it; of one that arrives, once its body was read to the end.
    var entry: StoredEntry? { stored ?? arriving?.entry }

    /// Returns the whole body, instead of ``body``. A large stored body is mapped, not copied.
    ///
    /// - Throws: ``LoadError/bodyAlreadyRead`` if the body came from the network and has been read, or is being read.
    public func data() async throws(LoadError) -> Data {
        try await body.data()
    }
}
