import ArgumentParser

/// The output format of a command.
struct ReportOptions: ParsableArguments {
    @Flag(help: "Report in JSON.")
    var json = false
}
