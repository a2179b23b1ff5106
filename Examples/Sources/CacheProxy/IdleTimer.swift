internal import NIOCore

/// Calls a function after 60 seconds without activity.
///
/// Belongs to one event loop. Activity only updates a time, because rescheduling the timer on every request would be
/// expensive.
final class IdleTimer {
    private static let limit = TimeAmount.seconds(60)

    private let eventLoop: any EventLoop
    private let isOver: () -> Bool
    private var latest: NIODeadline
    private var scheduled: Scheduled<Void>?

    /// - Parameter isOver: Called when the time is over. Returning `false` restarts the timer.
    init(on eventLoop: any EventLoop, isOver: @escaping () -> Bool) {
        self.eventLoop = eventLoop
        self.isOver = isOver
        latest = .now()
        schedule()
    }

    /// Records activity.
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
