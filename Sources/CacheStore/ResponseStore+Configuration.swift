#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import Logging

extension ResponseStore {
    /// How a store behaves. What it says is read once, when the store opens.
    public struct Configuration: Sendable {
        /// When the bytes of a body are held against their digest.
        @nonexhaustive
        public enum Verification: Sendable {
            /// Before a file is read for the first time in this process. The default.
            case firstRead
            /// Before every read.
            case everyRead
            /// Never; only the length is checked.
            case never
        }

        /// When bodies are verified; ``Verification/firstRead`` by default.
        public var verification: Verification = .firstRead

        /// Connections for lookups: as many lookups run at once. 4 by default, at least 1.
        public var readerCount: Int = 4

        /// How long to wait for another process's write lock before ``StoreError/busy(path:)``. 5 seconds by default.
        public var busyTimeout: Duration = .seconds(5)

        /// The longest that the time of a use stays in memory only. 10 seconds by default.
        public var touchInterval: Duration = .seconds(10)

        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }

        /// Is told of damage that was found and dropped. Silent by default.
        public var logger: Logger = Logger(label: "CacheStore") { _ in SwiftLogNoOpLogHandler() }

        /// The defaults.
        public init() {}
    }
}
