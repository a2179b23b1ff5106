internal import CacheFoundation
internal import HTTPCaching

/// Dates in the format of HTTP: IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
public enum OriginDate {
    /// Returns the text for a number of seconds since 1970.
    public static func text(secondsSince1970 seconds: Int) -> String {
        HTTPDate(secondsSince1970: Int64(seconds)).description
    }

    /// Returns the text for the current time.
    public static func now() -> String { HTTPDate(Date()).description }

    /// Returns the seconds since 1970 of an IMF-fixdate, or `nil` for other text.
    public static func seconds(of text: String) -> Int? {
        // Formatting the date again rejects the formats that origins must not send (RFC 9110).
        guard let date = HTTPDate(HTTPField(name: .date, value: text), now: .distantPast), date.description == text
        else { return nil }
        return Int(date.secondsSince1970)
    }
}
