import Foundation

/// The environment variables that replace options.
enum Environment {
    /// Returns the value of a variable, or `nil` if it is empty.
    static subscript(name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
