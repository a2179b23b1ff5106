// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "cacheproxy", targets: ["CacheProxy"]),
        .executable(name: "cachedserver", targets: ["CachedServer"]),
        .executable(name: "newsreader", targets: ["Newsreader"]),
        .executable(name: "thumbnail", targets: ["Thumbnail"]),
    ],
    dependencies: [
        .package(name: "CacheStore", path: ".."),
        .package(path: "../Integrations"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["JSON"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "CacheProxy",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CacheConfiguration", package: "Integrations"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheTier", package: "CacheStore"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HTTPCaching", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "CachedServer",
            dependencies: [
                .product(name: "CacheLifecycle", package: "Integrations"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCaching", package: "Integrations"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "Newsreader",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CacheImages", package: "CacheStore"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                "PixbufDecoder",
            ],
            swiftSettings: swiftSettings
        ),
        // SwiftPM warns of "prohibited flag(s): -pthread". pkg-config sets this flag, SwiftPM drops it, and the build
        // does not need it.
        .systemLibrary(
            name: "CGdkPixbuf",
            pkgConfig: "gdk-pixbuf-2.0",
            providers: [.apt(["libgdk-pixbuf-2.0-dev"]), .brew(["gdk-pixbuf"])]
        ),
        .target(
            name: "PixbufDecoder",
            dependencies: [
                "CGdkPixbuf",
                .product(name: "CacheImages", package: "CacheStore"),
                .product(name: "CacheLoader", package: "CacheStore"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PixbufDecoderTests",
            dependencies: [
                .product(name: "CacheImages", package: "CacheStore"),
                "PixbufDecoder",
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "Thumbnail",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CacheImages", package: "CacheStore"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                "PixbufDecoder",
            ],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
