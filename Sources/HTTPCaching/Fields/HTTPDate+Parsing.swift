internal import ByteText

extension HTTPDate {
    /// Parses one of the three date formats of RFC 9110 §5.6.7, strictly except for upper and lower case.
    ///
    /// RFC 9111 §4.2: any other date, including one in a zone other than GMT, is invalid for calculating expiration.
    ///
    /// - Parameters:
    ///   - field: The field whose value is a date.
    ///   - now: Determines the century of a two-digit year.
    public init?(_ field: HTTPField, now: HTTPDate) {
        let civil = field.withUnsafeBytesOfValue { CivilTime(strict: $0.trimmed, now: now) }
        guard let civil else { return nil }
        self = civil.date
    }

    /// Parses a date in any unambiguous format. Intended for `Last-Modified` from unmaintained servers.
    ///
    /// The day, the name of the month, the year and the time may come in any order. Numbers in day and time have one
    /// digit or two; the weekday is optional. Any number of spaces, commas and dashes may separate the parts. The zone
    /// is UTC (such as `GMT` or `UTC`) or absent.
    public init?(lenient field: HTTPField, now: HTTPDate) {
        let civil = field.withUnsafeBytesOfValue { bytes in
            CivilTime(strict: bytes.trimmed, now: now) ?? CivilTime(lenient: bytes, now: now)
        }
        guard let civil else { return nil }
        self = civil.date
    }
}

/// The names of days and months in IMF-fixdate.
enum DateName {
    static let weekdays: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    fileprivate static let longWeekdays: [StaticString] = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]

    fileprivate static let utc: [StaticString] = ["GMT", "UTC", "UT", "Z", "+0000"]
}

extension CivilTime {
    fileprivate init?(strict bytes: FieldBytes, now: HTTPDate) {
        // The lengths of the three formats differ.
        switch bytes.count {
        case 29: self.init(fixdate: bytes)
        case 24: self.init(asctime: bytes)
        case 30...33: self.init(rfc850: bytes, now: now)
        default: return nil
        }
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`. Does not compare the weekday with the date: a contradiction would only
    /// make an unambiguous date ambiguous.
    private init?(fixdate bytes: FieldBytes) {
        guard bytes[0..<3].index(in: DateName.weekdays) != nil,
            bytes[3] == UInt8(ascii: ","), bytes[4] == 0x20, bytes[7] == 0x20, bytes[11] == 0x20, bytes[16] == 0x20,
            let day = bytes[5..<7].number,
            let month = bytes[8..<11].index(in: DateName.months),
            let year = bytes[12..<16].number,
            bytes[25..<29].isCaseInsensitively(" GMT")
        else { return nil }
        self.init(year: year, month: month + 1, day: day, time: bytes[17..<25])
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private init?(rfc850 bytes: FieldBytes, now: HTTPDate) {
        let comma = bytes.count - 24
        guard bytes[..<comma].index(in: DateName.longWeekdays) != nil else { return nil }
        let rest = FieldBytes(rebasing: bytes[comma...])
        guard rest[0] == UInt8(ascii: ","), rest[1] == 0x20, rest[4] == UInt8(ascii: "-"),
            rest[8] == UInt8(ascii: "-"), rest[11] == 0x20,
            let day = rest[2..<4].number,
            let month = rest[5..<8].index(in: DateName.months),
            let year = rest[9..<11].number,
            rest[20..<24].isCaseInsensitively(" GMT")
        else { return nil }
        self.init(twoDigitYear: year, now: now) { year in
            CivilTime(year: year, month: month + 1, day: day, time: rest[12..<20])
        }
    }

    /// `Sun Nov  6 08:49:37 1994`
    private init?(asctime bytes: FieldBytes) {
        guard bytes[0..<3].index(in: DateName.weekdays) != nil,
            bytes[3] == 0x20, bytes[7] == 0x20, bytes[10] == 0x20, bytes[19] == 0x20,
            let month = bytes[4..<7].index(in: DateName.months),
            let day = bytes[(bytes[8] == 0x20 ? 9 : 8)..<10].number,
            let year = bytes[20..<24].number
        else { return nil }
        self.init(year: year, month: month + 1, day: day, time: bytes[11..<19])
    }

    /// Parses the time `08:49:37`.
    private init?(year: Int64, month: Int, day: Int64, time: Slice<FieldBytes>) {
        let time = FieldBytes(rebasing: time)
        guard time[2] == UInt8(ascii: ":"), time[5] == UInt8(ascii: ":"),
            let hour = time[0..<2].number, let minute = time[3..<5].number, let second = time[6..<8].number
        else { return nil }
        self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// RFC 9110 §5.6.7: a date with a two-digit year that "appears to be more than 50 years in the future" is in "the
    /// most recent year in the past that had the same last two digits".
    private init?(twoDigitYear: Int64, now: HTTPDate, make: (_ year: Int64) -> CivilTime?) {
        var limit = CivilTime(now)
        limit.year += 50
        let latest = limit.year - (limit.year - twoDigitYear) % 100
        if let civil = make(latest), civil.date <= limit.date {
            self = civil
        } else if let civil = make(latest - 100) {
            self = civil
        } else {
            return nil
        }
    }
}

extension CivilTime {
    /// Classifies each word of a date by its appearance, as RFC 6265 §5.1.1 does for cookies.
    fileprivate init?(lenient bytes: FieldBytes, now: HTTPDate) {
        // No date is longer. The limit bounds the memory for the words.
        guard bytes.count <= 64 else { return nil }
        var day: Int64?
        var month: Int?
        var year: (number: Int64, digits: Int)?
        var time: (hour: Int64, minute: Int64, second: Int64)?
        var hasWeekday = false
        var hasZone = false

        let separators = [0x20, 0x09, UInt8(ascii: ","), UInt8(ascii: "-")]
        for word in bytes.split(whereSeparator: separators.contains) {
            if let number = word.number {
                if word.count <= 2, day == nil {
                    day = number
                } else if word.count == 2 || word.count == 4, year == nil {
                    year = (number, word.count)
                } else {
                    return nil
                }
            } else if time == nil, let clock = Self.clock(word) {
                time = clock
            } else if !hasZone, word.index(in: DateName.utc) != nil {
                hasZone = true
            } else if month == nil, let index = word.prefix(3).index(in: DateName.months) {
                month = index + 1
            } else if !hasWeekday, word.prefix(3).index(in: DateName.weekdays) != nil {
                hasWeekday = true
            } else {
                return nil
            }
        }

        guard let day, let month, let year, let time else { return nil }
        func make(_ year: Int64) -> CivilTime? {
            CivilTime(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
        }
        if year.digits == 2 {
            self.init(twoDigitYear: year.number, now: now, make: make)
        } else if let civil = make(year.number) {
            self = civil
        } else {
            return nil
        }
    }

    /// Parses `8:49:37`, `08:49:37` or `8:49`.
    private static func clock(_ word: Slice<FieldBytes>) -> (hour: Int64, minute: Int64, second: Int64)? {
        let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts.allSatisfy({ $0.count <= 2 }),
            let hour = parts[0].number, let minute = parts[1].number
        else { return nil }
        guard parts.count == 3 else { return (hour, minute, 0) }
        guard let second = parts[2].number else { return nil }
        return (hour, minute, second)
    }
}

extension Slice<FieldBytes> {
    /// The value of one to four digits, or `nil` for any other bytes.
    fileprivate var number: Int64? {
        guard (1...4).contains(count) else { return nil }
        var number: Int64 = 0
        for byte in self {
            guard byte.isASCIIDigit else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return number
    }

    fileprivate func isCaseInsensitively(_ name: StaticString) -> Bool {
        FieldBytes(rebasing: self).isCaseInsensitively(name)
    }

    /// Returns the index of the name that equals these bytes, ignoring case.
    fileprivate func index(in names: [StaticString]) -> Int? {
        names.firstIndex(where: isCaseInsensitively)
    }
}
