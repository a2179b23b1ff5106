/// A moment as HTTP writes it: whole seconds, always UTC.
///
/// Parsing and formatting work on bytes and know no locale, calendar or time zone but GMT (RFC 9111 §4.2). Arithmetic
/// saturates.
package struct HTTPDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    package var secondsSince1970: Int64

    /// Creates the moment that lies `secondsSince1970` after the start of 1970.
    package init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// Before all others: what a caller without a usable clock has for the current time.
    package static let distantPast = HTTPDate(secondsSince1970: .min)

    /// Whether the left moment is the earlier one.
    package static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSince1970 < rhs.secondsSince1970
    }

    /// The moment that lies `seconds` later.
    package func advanced(by seconds: Int64) -> HTTPDate {
        HTTPDate(secondsSince1970: secondsSince1970.saturatingAdding(seconds))
    }

    /// How many seconds after `earlier` this is; negative when it is before.
    package func seconds(since earlier: HTTPDate) -> Int64 {
        secondsSince1970.saturatingSubtracting(earlier.secondsSince1970)
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The moment as IMF-fixdate, the one form that may be sent (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// A year that does not have four digits is written as the first or last that does.
    package var description: String {
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
