/// A date and time of day in UTC and the proleptic Gregorian calendar. The conversions use the algorithms of
/// https://howardhinnant.github.io/date_algorithms.html. Their years begin in March, so that the leap day is the last
/// day of a year.
struct CivilTime {
    var year: Int64
    var month: Int64
    var day: Int64
    var secondOfDay: Int64

    /// Returns `nil` for an impossible date or time.
    init?(year: Int64, month: Int, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard hour < 24, minute < 60, second <= 60, day >= 1 else { return nil }
        self.year = year
        self.month = Int64(month)
        self.day = day
        // RFC 9110 §5.6.7 allows a leap second, but seconds since 1970 cannot represent it. Use the second before (RFC
        // 9111 §4.2: "the nearest time equal to or earlier than the received value").
        secondOfDay = hour * 3600 + minute * 60 + min(second, 59)
        guard day <= lengthOfMonth else { return nil }
    }

    /// Converts `date`, clamped to the years 0 to 9999.
    init(_ date: HTTPDate) {
        let seconds = min(max(date.secondsSince1970, -62_167_219_200), 253_402_300_799)
        let day = (seconds - (seconds < 0 ? 86_399 : 0)) / 86_400
        secondOfDay = seconds - day * 86_400
        let sinceMarch0000 = day + 719_468
        let era = (sinceMarch0000 - (sinceMarch0000 < 0 ? 146_096 : 0)) / 146_097
        let dayOfEra = sinceMarch0000 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var date: HTTPDate { HTTPDate(secondsSince1970: daysSince1970 * 86_400 + secondOfDay) }

    /// The number of days since Sunday.
    var weekday: Int { Int((daysSince1970 % 7 + 11) % 7) }

    private var daysSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear - (marchYear < 0 ? 399 : 0)) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private var lengthOfMonth: Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
