import Foundation

/// Reports each finished step to the tests as a line, with write(2), so that a kill loses no line.
struct Journal {
    private let descriptor: Int32

    init(_ path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        precondition(descriptor >= 0, "cannot write \(path)")
    }

    func note(_ line: String) {
        var line = line + "\n"
        line.withUTF8 { bytes in
            precondition(write(descriptor, bytes.baseAddress, bytes.count) == bytes.count, "cannot write the journal")
        }
    }
}
