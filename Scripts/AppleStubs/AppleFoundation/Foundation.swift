// Foundation as on Apple's systems: with the types of URLSession, and with Darwin instead of Linux's C library. The
// check imports this module for Foundation. Types and members are those of Foundation on Linux.
// https://developer.apple.com/documentation/foundation
@_exported public import AppleDispatch
@_exported public import CoreFoundation
@_exported public import Darwin
@_exported public import FoundationEssentials
@_exported public import FoundationInternationalization
public import Foundation
public import FoundationNetworking

public typealias FileHandle = Foundation.FileHandle
public typealias InputStream = Foundation.InputStream
public typealias NSObject = Foundation.NSObject
public typealias Notification = Foundation.Notification
public typealias NotificationCenter = Foundation.NotificationCenter
public typealias NSNumber = Foundation.NSNumber
public typealias NSString = Foundation.NSString
public typealias HTTPCookie = FoundationNetworking.HTTPCookie
public typealias HTTPCookieStorage = FoundationNetworking.HTTPCookieStorage
public typealias NSMutableURLRequest = FoundationNetworking.NSMutableURLRequest
public typealias NSURLRequest = FoundationNetworking.NSURLRequest
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse
public typealias URLAuthenticationChallenge = FoundationNetworking.URLAuthenticationChallenge
public typealias URLCredential = FoundationNetworking.URLCredential
public typealias URLError = Foundation.URLError
public typealias URLProtectionSpace = FoundationNetworking.URLProtectionSpace
public typealias URLResourceValues = Foundation.URLResourceValues
public typealias URLProtocol = FoundationNetworking.URLProtocol
public typealias URLProtocolClient = FoundationNetworking.URLProtocolClient
public typealias URLRequest = FoundationNetworking.URLRequest
public typealias URLResponse = FoundationNetworking.URLResponse
public typealias URLSession = FoundationNetworking.URLSession
public typealias URLSessionConfiguration = FoundationNetworking.URLSessionConfiguration
public typealias URLSessionDataDelegate = FoundationNetworking.URLSessionDataDelegate
public typealias URLSessionDataTask = FoundationNetworking.URLSessionDataTask
public typealias URLSessionTask = FoundationNetworking.URLSessionTask

public let NSLocalizedDescriptionKey = Foundation.NSLocalizedDescriptionKey
public let NSUnderlyingErrorKey = Foundation.NSUnderlyingErrorKey
public let NSURLErrorFailingURLErrorKey = Foundation.NSURLErrorFailingURLErrorKey

// https://developer.apple.com/documentation/foundation/url/cachesdirectory
extension URL {
    @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
    public static var cachesDirectory: URL { fatalError() }
}

// https://developer.apple.com/documentation/security/sectrust, .../foundation/urlprotectionspace/servertrust,
// .../foundation/urlcredential/init(trust:)
@available(macOS 10.2, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public final class SecTrust {}

extension URLProtectionSpace {
    @available(macOS 10.6, iOS 3.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
    public var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    @available(macOS 10.6, iOS 3.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
    public convenience init(trust: SecTrust) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/processinfo/islowpowermodeenabled,
// .../foundation/nsnotification/name/nsprocessinfopowerstatedidchange
extension ProcessInfo {
    @available(macOS 12.0, iOS 9.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
    public var isLowPowerModeEnabled: Bool { false }
}

extension Notification.Name {
    @available(macOS 12.0, iOS 9.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
    public static var NSProcessInfoPowerStateDidChange: Notification.Name { fatalError() }
}

// https://developer.apple.com/documentation/foundation/notificationcenter/notifications(named:object:)
extension NotificationCenter {
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications { fatalError() }
}
