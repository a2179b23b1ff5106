#if canImport(FoundationEssentials)
public import FoundationEssentials
#elseif canImport(Foundation)
public import Foundation
#endif

#if canImport(FoundationEssentials) || canImport(Foundation)
extension HTTPDate {
    /// Creates a date from the whole seconds of `date`, rounded down.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self.init(secondsSince1970: Int64(max(-1e15, min(1e15, seconds.isNaN ? 0 : seconds))))
    }
}

extension Date {
    /// Creates a date at this second.
    public init(_ date: HTTPDate) {
        self.init(timeIntervalSince1970: TimeInterval(date.secondsSince1970))
    }
}
#endif
