import ArgumentParser

/// The output format of a command.
struct ReportOptions: ParsableArguments {
    /// `nil` for text.
    @Flag var format: ReportFormat?
}
