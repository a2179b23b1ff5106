// https://developer.apple.com/documentation/network/nwpathmonitor, .../nwpath
public import AppleDispatch

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, visionOS 1.0, *)
public struct NWPath: Equatable, Sendable {
    public enum Status: Equatable, Hashable, Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }
    public let status: NWPath.Status
    public let isExpensive: Bool
    @available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, visionOS 1.0, *)
    public var isConstrained: Bool { false }
}

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, visionOS 1.0, *)
public final class NWPathMonitor: @unchecked Sendable {
    public var currentPath: NWPath { fatalError() }
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
    public init() {}
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
