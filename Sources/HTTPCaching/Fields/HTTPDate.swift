/// A point in time as in HTTP: whole seconds in UTC.
///
/// Parsing and formatting work on bytes, without a locale, a calendar or a time zone other than GMT (RFC 9111 §4.2).
/// Arithmetic saturates. Programs with Foundation convert from and to `Date`.
public struct HTTPDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, not counting leap seconds.
    public var secondsSince1970: Int64

    /// Creates a date from seconds since 1970-01-01T00:00:00Z.
    public init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// The earliest date, which callers without a usable clock pass as the current time.
    public static let distantPast = HTTPDate(secondsSince1970: .min)

    /// Whether the first date is earlier.
    public static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSince1970 < rhs.secondsSince1970
    }

    /// Returns the date this number of seconds later, or earlier for a negative number.
    public func advanced(by seconds: Int64) -> HTTPDate {
        HTTPDate(secondsSince1970: secondsSince1970.saturatingAdding(seconds))
    }

    /// Returns the number of seconds from `earlier` to this date. Negative if this date is earlier.
    public func seconds(since earlier: HTTPDate) -> Int64 {
        secondsSince1970.saturatingSubtracting(earlier.secondsSince1970)
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The date as IMF-fixdate, the only format to send (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Clamps the date to the years with four digits, 0000 to 9999.
    public var description: String {
        let civil = CivilTime(self)
        var text = "\(DateName.weekdays[civil.weekday]), "
        text.append(civil.day, digits: 2)
        text += " \(DateName.months[Int(civil.month) - 1]) "
        text.append(civil.year, digits: 4)
        text += " "
        text.append(civil.secondOfDay / 3600, digits: 2)
        text += ":"
        text.append(civil.secondOfDay / 60 % 60, digits: 2)
        text += ":"
        text.append(civil.secondOfDay % 60, digits: 2)
        text += " GMT"
        return text
    }
}

extension String {
    fileprivate mutating func append(_ number: Int64, digits: Int) {
        let text = String(number)
        self += String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
