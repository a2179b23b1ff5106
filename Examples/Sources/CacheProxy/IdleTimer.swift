internal import NIOCore

/// Calls a function when nothing has happened for 60 seconds.
///
/// Belongs to one event loop. Something happens with every request: that is noted, and the timer not moved.
final class IdleTimer {
    private static let limit = TimeAmount.seconds(60)

    private let eventLoop: any EventLoop
    private let isOver: () -> Bool
    private var latest: NIODeadline
    private var scheduled: Scheduled<Void>?

    /// - Parameter isOver: Called after the time; `false` starts it again.
    init(on eventLoop: any EventLoop, isOver: @escaping () -> Bool) {
        self.eventLoop = eventLoop
        self.isOver = isOver
        latest = .now()
        schedule()
    }

    /// Something has happened.
    func touch() {
        latest = .now()
    }

    func cancel() {
        scheduled?.cancel()
    }

    private func schedule() {
        let timer = NIOLoopBound(self, eventLoop: eventLoop)
        scheduled = eventLoop.scheduleTask(deadline: latest + Self.limit) { timer.value.fire() }
    }

    private func fire() {
        if latest + Self.limit <= .now() {
            if isOver() { return }
            latest = .now()
        }
        schedule()
    }
}
