internal import Logging

/// Passes log messages to the program's handler, on a lane and never under a lock: the handler may call the store.
struct StoreLog: Sendable {
    private let logger: Logger
    private let lane: BlockingLane

    init(_ logger: Logger, _ lane: BlockingLane) {
        self.logger = logger
        self.lane = lane
    }

    func debug(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: String] = [:]) {
        log(.debug, message, metadata)
    }

    func warning(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: String] = [:]) {
        log(.warning, message, metadata)
    }

    func error(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: String] = [:]) {
        log(.error, message, metadata)
    }

    private func log(_ level: Logger.Level, _ message: () -> String, _ metadata: () -> [String: String]) {
        guard logger.logLevel <= level else { return }
        lane.submit { [logger, message = message(), metadata = metadata()] in
            logger.log(level: level, "\(message)", metadata: metadata.mapValues { "\($0)" })
        }
    }
}
