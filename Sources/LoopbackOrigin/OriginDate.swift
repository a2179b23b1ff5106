internal import CacheFoundation

/// Dates in the format of HTTP: IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
public enum OriginDate {
    /// Returns the text for a number of seconds since 1970.
    public static func text(secondsSince1970 seconds: Int) -> String {
        let time = (seconds % 86_400 + 86_400) % 86_400
        let days = (seconds - time) / 86_400
        let civil = CivilDate(daysSince1970: days)
        let weekday = weekdays[((days + 4) % 7 + 7) % 7]
        let date = "\(twoDigits(civil.day)) \(months[civil.month - 1]) \(fourDigits(civil.year))"
        return "\(weekday), \(date) \(twoDigits(time / 3600)):\(twoDigits(time / 60 % 60)):\(twoDigits(time % 60)) GMT"
    }

    /// Returns the text for the current time.
    public static func now() -> String {
        text(secondsSince1970: Int(Date().timeIntervalSince1970))
    }

    /// Returns the seconds since 1970 of `text`; `nil` if it is not an IMF-fixdate.
    public static func seconds(of text: String) -> Int? {
        let words = text.split(separator: " ")
        guard
            words.count == 6, words[5] == "GMT",
            let day = Int(words[1]), let month = months.firstIndex(of: String(words[2])), let year = Int(words[3])
        else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int($0) }
        guard (0...9999).contains(year), (1...31).contains(day), clock.count == 3 else { return nil }
        guard clock.allSatisfy({ (0..<60).contains($0) }) else { return nil }
        let days = CivilDate(year: year, month: month + 1, day: day).daysSince1970
        let seconds = days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
        // Formatting the date again rejects values out of range, and formats that RFC 9110 does not allow origins to
        // send.
        return self.text(secondsSince1970: seconds) == text ? seconds : nil
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func twoDigits(_ value: Int) -> String {
        value < 10 ? "0\(value)" : "\(value)"
    }

    private static func fourDigits(_ value: Int) -> String {
        String(repeating: "0", count: max(0, 4 - "\(value)".count)) + "\(value)"
    }
}

/// A day of the proleptic Gregorian calendar.
///
/// The algorithm begins years in March. Then a leap day comes last, and the lengths of the months follow a fixed
/// pattern; see [Hinnant](https://howardhinnant.github.io/date_algorithms.html).
private struct CivilDate {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSince1970: Int) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
