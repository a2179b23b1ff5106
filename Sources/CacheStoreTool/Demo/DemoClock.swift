import Foundation
import Synchronization

/// The time that the demo's origin, loader and store share: hours pass in it at a word.
///
/// It starts so long ago that it shows the real time after as many seconds as its user intends to let pass.
final class DemoClock: Sendable {
    /// Guards the moment.
    private let moment: Mutex<Date>

    init(secondsToPass seconds: TimeInterval) {
        moment = Mutex(Date().addingTimeInterval(-seconds))
    }

    @Sendable func now() -> Date { moment.withLock { $0 } }

    func advance(by seconds: TimeInterval) {
        moment.withLock { $0 += seconds }
    }
}
