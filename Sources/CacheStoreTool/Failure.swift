import ArgumentParser
import CacheLoader
import CacheStore
import Foundation

/// Why a command gives no good answer, in words for a person and a code for a script.
struct Failure: Error {
    /// Which kind it is; a greater one is worse.
    enum Kind: Int32, Comparable {
        /// The question was answered with no.
        case no = 1
        /// The store or the network failed.
        case broken = 2

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What a command has thrown.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as LoadError:
            switch error {
            case .notCached, .httpStatus: self.init(.no, "\(error)")
            default: self.init(.broken, "\(error)")
            }
        default:
            self.init(.broken, "\(error)")
        }
    }

    /// A call of the system that has just failed.
    static func system(_ path: String, errno code: Int32) -> Failure {
        Failure(.broken, "\(path): \(String(cString: strerror(code)))")
    }

    var exitCode: ExitCode { ExitCode(kind.rawValue) }

    /// Says it on the standard error, in one line.
    func report() {
        StandardError.say(message)
    }
}
