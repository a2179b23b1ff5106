// https://developer.apple.com/documentation/corefoundation
// Linux has no bridging by `as` to the types of Core Foundation. So Swift's value types replace the bridged types here,
// and the check does not verify that a value may be bridged.
@_exported public import struct Foundation.CGFloat
@_exported public import struct Foundation.CGPoint
@_exported public import struct Foundation.CGRect
@_exported public import struct Foundation.CGSize
public import struct FoundationEssentials.Data

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public final class CFString: Hashable, Sendable {
    init() {}
    public static func == (left: CFString, right: CFString) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) {}
}

public typealias CFData = Data
public typealias CFDictionary = [CFString: Any]
