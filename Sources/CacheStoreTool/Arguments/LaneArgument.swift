import ArgumentParser
import CacheLoader

/// How soon a load gets its turn, by its name on the command line.
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
