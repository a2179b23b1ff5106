import Foundation
import Synchronization

/// The clock of the demo's origin, loader and store. The demo advances it by hours in one step. The clock starts in the
/// past and reaches the real time after `secondsToPass` seconds.
final class DemoClock: Sendable {
    /// Guards the time.
    private let moment: Mutex<Date>

    init(secondsToPass seconds: TimeInterval) {
        moment = Mutex(Date().addingTimeInterval(-seconds))
    }

    @Sendable func now() -> Date { moment.withLock { $0 } }

    func advance(by seconds: TimeInterval) {
        moment.withLock { $0 += seconds }
    }
}
