import ArgumentParser

/// How a command reports.
struct ReportOptions: ParsableArguments {
    @Flag(help: "Report in JSON.")
    var json = false
}
