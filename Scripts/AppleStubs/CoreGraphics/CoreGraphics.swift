// https://developer.apple.com/documentation/coregraphics/cgimage, .../cgcontext, .../cgcolorspace
@_exported public import CoreFoundation

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public final class CGImage {
    public var width: Int { 0 }
    public var height: Int { 0 }
    public var colorSpace: CGColorSpace? { nil }
    public func cropping(to rect: CGRect) -> CGImage? { nil }
}

@available(macOS 10.5, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public enum CGColorSpaceModel: Int32, Sendable {
    case unknown = -1
    case monochrome, rgb, cmyk, lab, deviceN, indexed, pattern, XYZ
}

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public final class CGColorSpace {
    public init?(name: CFString) { nil }
    @available(macOS 10.6, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
    public var name: CFString? { nil }
    @available(macOS 10.5, iOS 9.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
    public class var sRGB: CFString { fatalError() }
    @available(macOS 10.11.2, iOS 9.3, tvOS 9.3, watchOS 2.3, visionOS 1.0, *)
    public class var displayP3: CFString { fatalError() }
    public var model: CGColorSpaceModel { .unknown }
    @available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, visionOS 1.0, *)
    public var supportsOutput: Bool { false }
}

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { fatalError() }

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public enum CGImageAlphaInfo: UInt32, Sendable {
    case none, premultipliedLast, premultipliedFirst, last, first, noneSkipLast, noneSkipFirst, alphaOnly
}

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public enum CGInterpolationQuality: Int32, Sendable {
    case `default`, none, low, high, medium
}

@available(macOS 10.0, iOS 2.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public final class CGContext {
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: UInt32
    ) { nil }
    public var interpolationQuality: CGInterpolationQuality {
        get { .default }
        set {}
    }
    public func clip(to rect: CGRect) {}
    public func draw(_ image: CGImage, in rect: CGRect, byTiling: Bool = false) {}
    public func makeImage() -> CGImage? { nil }
}
