internal import CacheFoundation
internal import HTTPCaching

/// The object of a URL: which request fields select its variants, and its last removal.
///
///     {"names": [["accept-encoding"]], "removedAt": 1700000000}
struct KeyObject: Codable, Sendable, Equatable {
    /// The most lists. The responses of a URL hardly ever differ in `Vary`.
    static let maxListCount = 4

    /// The lists of names that responses of the URL have in `Vary`, each sorted, the newest first.
    var names: [[String]] = []
    /// The time of the last removal, by the tier's clock, in seconds since 1970.
    var removedAt: Int64?
}

extension KeyObject {
    /// Decodes an object. A removal counts from the time of its write if that is later than the stated time: the
    /// engine knows its clock better than the writer does.
    init?(decoding payload: Data, lastModified: HTTPDate) {
        guard let object = try? JSONDecoder().decode(KeyObject.self, from: payload) else { return nil }
        names = Array(object.names.prefix(Self.maxListCount))
        removedAt = object.removedAt.map { max($0, lastModified.secondsSince1970) }
    }

    func encoded() -> Data { (try? JSONEncoder().encode(self)) ?? Data() }

    /// Returns the object after a response with other names. It removes the older responses of the URL: a removal that
    /// another machine writes at the same time would otherwise be lost.
    func adding(_ list: [String], at time: HTTPDate) -> KeyObject {
        KeyObject(
            names: Array(([list] + names).prefix(Self.maxListCount)),
            removedAt: max(removedAt ?? .min, time.secondsSince1970))
    }
}

extension VaryKey {
    var names: [String] { text.isEmpty ? [] : lines.map { String($0.prefix { $0 != ":" }) } }
}
