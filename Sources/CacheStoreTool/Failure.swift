import ArgumentParser
import CacheLoader
import CacheStore
import Foundation

/// A failed command: a message for a person and an exit code for a script.
struct Failure: Error {
    /// The kind of a failure. Greater kinds are worse.
    enum Kind: Int32, Comparable {
        /// The answer to the command's question is no.
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

    /// Converts an error of a command.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as LoadError:
            switch error {
            case .notCached, .httpStatus: self.init(.no, error.words)
            default: self.init(.broken, error.words)
            }
        case let error as TransportError:
            // No request: the error is in an option of the connections.
            self.init(.broken, error.message)
        default:
            self.init(.broken, "\(error)")
        }
    }

    /// Creates the failure of a system call from its `errno`.
    static func system(_ path: String, errno code: Int32) -> Failure {
        Failure(.broken, "\(path): \(String(cString: strerror(code)))")
    }

    var exitCode: ExitCode { ExitCode(kind.rawValue) }

    /// Writes the message to the standard error, in one line.
    func report() {
        StandardError.say(message)
    }
}
