#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension HTTPDate {
    package init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self.init(secondsSince1970: Int64(max(-1e15, min(1e15, seconds.isNaN ? 0 : seconds))))
    }
}

extension Date {
    package init(_ date: HTTPDate) {
        self.init(timeIntervalSince1970: TimeInterval(date.secondsSince1970))
    }
}
