import ArgumentParser
import CacheLoader

/// The priority lane of a load, by its name on the command line.
enum LaneArgument: String, ExpressibleByArgument, CaseIterable {
    case urgent
    case background

    var lane: Lane {
        switch self {
        case .urgent: .urgent
        case .background: .background
        }
    }
}
