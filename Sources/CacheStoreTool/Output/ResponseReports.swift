import CacheReports
import Synchronization

/// Writes the reports of the responses of a command: as they come, a line each, or at the end in one array.
final class ResponseReports: Sendable {
    let times = TransferTimes()
    private let format: ReportFormat
    /// Guards the reports for the array.
    private let reports = Mutex<[JSON]>([])

    init(_ format: ReportFormat) {
        self.format = format
    }

    func add(_ report: ResponseReport) throws {
        switch format {
        case .json: reports.withLock { $0.append(report.json) }
        case .jsonl: try format.write(report.json)
        }
    }

    func end() throws {
        if format == .json { try format.write(.array(reports.withLock { $0 })) }
    }
}
