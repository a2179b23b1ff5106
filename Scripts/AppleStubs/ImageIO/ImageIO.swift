// https://developer.apple.com/documentation/imageio/cgimagesource
@_exported public import CoreGraphics

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public final class CGImageSource {}

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? { nil }

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public enum CGImageSourceStatus: Int32, Sendable {
    case statusUnexpectedEOF = -5
    case statusInvalidData, statusUnknownType, statusReadingHeader, statusIncomplete, statusComplete
}

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceCreateIncremental(_ options: CFDictionary?) -> CGImageSource { fatalError() }

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceUpdateData(_ isrc: CGImageSource, _ data: CFData, _ final: Bool) {}

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceGetStatusAtIndex(_ isrc: CGImageSource, _ index: Int) -> CGImageSourceStatus { .statusComplete }

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceCopyPropertiesAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CFDictionary? { nil }

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceCreateImageAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { nil }

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public func CGImageSourceCreateThumbnailAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { nil }

@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImageSourceShouldCache: CFString { fatalError() }
@available(macOS 10.9, iOS 7.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImageSourceShouldCacheImmediately: CFString { fatalError() }
@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImageSourceCreateThumbnailFromImageAlways: CFString { fatalError() }
@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImageSourceCreateThumbnailWithTransform: CFString { fatalError() }
@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImageSourceThumbnailMaxPixelSize: CFString { fatalError() }
@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImagePropertyPixelWidth: CFString { fatalError() }
@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImagePropertyPixelHeight: CFString { fatalError() }
@available(macOS 10.4, iOS 4.0, tvOS 9.0, watchOS 2.0, visionOS 1.0, *)
public var kCGImagePropertyOrientation: CFString { fatalError() }
