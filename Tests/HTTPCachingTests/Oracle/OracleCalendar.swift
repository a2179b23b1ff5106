/// Writes dates for the oracle. Counts years and months one by one.
enum OracleCalendar {
    /// The three forms of RFC 9110 §5.6.7.
    enum Form: CaseIterable {
        case fixdate
        case rfc850
        case asctime
    }

    static func text(_ seconds: Int64, _ form: Form = .fixdate) -> String {
        var days = seconds / 86_400
        let second = seconds % 86_400
        // The first of January 1970 was a Thursday.
        let weekday = Int(days + 4) % 7
        var year: Int64 = 1970
        while days >= length(ofYear: year) {
            days -= length(ofYear: year)
            year += 1
        }
        var month = 0
        while days >= length(ofMonth: month, year) {
            days -= length(ofMonth: month, year)
            month += 1
        }
        let day = days + 1
        let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        switch form {
        case .fixdate: return "\(weekdays[weekday].prefix(3)), \(two(day)) \(months[month]) \(year) \(time) GMT"
        case .rfc850: return "\(weekdays[weekday]), \(two(day))-\(months[month])-\(two(year % 100)) \(time) GMT"
        case .asctime:
            return "\(weekdays[weekday].prefix(3)) \(months[month]) \(day < 10 ? " " : "")\(day) \(time) \(year)"
        }
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func length(ofYear year: Int64) -> Int64 { isLeap(year) ? 366 : 365 }

    private static func length(ofMonth month: Int, _ year: Int64) -> Int64 {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
