internal import CacheLoader
internal import Foundation
internal import Synchronization
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The cache of a protocol class, and the settings of its sessions.
struct ProtocolRoute: Sendable {
    let cache: HTTPCache
    let settings: SessionSettings

    func isEqual(to other: ProtocolRoute) -> Bool {
        cache === other.cache && settings == other.settings
    }
}

/// The protocol classes of this process, each with its cache. A session tells its protocol classes nothing but the
/// request: they have no instance for a session. A field in `httpAdditionalHeaders` cannot name the cache, because a
/// protocol does not see these fields, since iOS 8 and in FoundationNetworking. A property of the request cannot,
/// either: only the caller of a task can set it. The class itself remains. Swift creates a class at run time for each
/// new argument of a generic one, on all systems.
final class ProtocolRoutes: Sendable {
    static let shared = ProtocolRoutes()

    private struct Entry {
        let route: ProtocolRoute
        let type: URLProtocol.Type
    }

    private struct State {
        var entries: [Entry] = []
        var indices: [ObjectIdentifier: Int] = [:]
    }

    /// Guards the table, which only grows.
    private let state = Mutex(State())

    /// Returns the class for a route. Equal routes share a class.
    func type(for route: ProtocolRoute) -> URLProtocol.Type {
        state.withLock { state in
            if let entry = state.entries.first(where: { $0.route.isEqual(to: route) }) { return entry.type }
            let type = Self.makeType(state.entries.count + 1, Never.self)
            state.indices[ObjectIdentifier(type)] = state.entries.count
            state.entries.append(Entry(route: route, type: type))
            return type
        }
    }

    func route(of type: URLProtocol.Type) -> ProtocolRoute? {
        state.withLock { state in state.indices[ObjectIdentifier(type)].map { state.entries[$0].route } }
    }

    /// Returns the class whose argument spells `number` in binary digits. So the names of many classes stay short.
    private static func makeType<Digits>(_ number: Int, _ digits: Digits.Type) -> URLProtocol.Type {
        guard number > 0 else { return CachingProtocol<Digits>.self }
        return number.isMultiple(of: 2)
            ? makeType(number / 2, Zero<Digits>.self) : makeType(number / 2, One<Digits>.self)
    }

    private enum Zero<Rest> {}
    private enum One<Rest> {}
}
