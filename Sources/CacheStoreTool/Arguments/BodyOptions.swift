import ArgumentParser
import Foundation

/// The output option of a command that writes a body.
struct BodyOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the body to a file instead, which appears only once it is complete; - is the standard output.",
            valueName: "file"),
        completion: .file())
    var output: String?

    /// The path of the file, or `nil` for the standard output.
    var file: String? { output == "-" ? nil : output }

    /// Writes bytes of a body to the standard output. Only `-o -` writes binary bytes to a terminal.
    func writeToOutput(_ bytes: some DataProtocol & ContiguousBytes, of url: String) throws {
        if output != "-" {
            try StandardOutput.refuseOnTerminal(bytes, of: url, remedy: "-o FILE saves it, -o - writes it here anyway")
        }
        try StandardOutput.write(bytes)
    }
}
