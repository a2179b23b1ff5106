#if Inspector
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A server of its own for an inspector, on loopback.
///
/// Only this machine reaches the server, and only with the token in its address: the page exchanges the token for a
/// cookie. Each server has another token, and another path.
///
/// ```swift
/// try await InspectorServer(StoreInspector(store: store)).run { address in
///     print(address)
/// }
/// ```
public struct InspectorServer: Sendable {
    private let inspector: StoreInspector
    private let port: Int

    /// Creates a server. It listens from ``run(whenReady:)`` on.
    ///
    /// - Parameters:
    ///   - inspector: The page to serve.
    ///   - port: The port on 127.0.0.1; 0, the default, for one that the system chooses.
    public init(_ inspector: StoreInspector, port: Int = 0) {
        self.inspector = inspector
        self.port = port
    }

    /// Serves until the calling task is cancelled.
    ///
    /// - Parameter whenReady: Receives the address of the page, with its token, once the server listens.
    /// - Throws: The error of listening, such as that of a port in use.
    public func run(whenReady: @escaping @Sendable (_ address: String) async -> Void) async throws {
        let actualPort = ListeningPort()
        let login = AccessGuard.Login(port: { actualPort.value })
        let router = Router()
        inspector.addRoutes(
            to: router.group(RouterPath(login.path)), guardedBy: AccessGuard(login: login))
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                let number = channel.localAddress?.port ?? 0
                actualPort.set(number)
                await whenReady("http://127.0.0.1:\(number)\(login.path)?token=\(login.token)")
            },
            logger: Logger(label: "CacheInspector") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await application.run()
        } catch {
            // The end of a server whose task is cancelled is no error.
            if !Task.isCancelled { throw error }
        }
    }
}

/// The port that the system has chosen.
private final class ListeningPort: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .acquiring) }

    func set(_ number: Int) { self.number.store(number, ordering: .releasing) }
}
#endif
