// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Integrations",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "AsyncHTTPClientCaching", targets: ["AsyncHTTPClientCaching"]),
        .library(name: "CacheConfiguration", targets: ["CacheConfiguration"]),
        .library(name: "CacheLifecycle", targets: ["CacheLifecycle"]),
        .library(name: "CacheTracing", targets: ["CacheTracing"]),
        .library(name: "HummingbirdCaching", targets: ["HummingbirdCaching"]),
        .library(name: "HummingbirdInspector", targets: ["HummingbirdInspector"]),
    ],
    dependencies: [
        .package(name: "CacheStore", path: ".."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["JSON"]),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "AsyncHTTPClientCaching",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "AsyncHTTPClientCachingTests",
            dependencies: [
                "AsyncHTTPClientCaching",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheStoreTesting", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "LoopbackOrigin", package: "CacheStore"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            // The linked suites are shared with the package CacheStore, where they use the target TestSupport.
            swiftSettings: swiftSettings + [.define("INTEGRATIONS")]
        ),
        .target(
            name: "CacheConfiguration",
            dependencies: [
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheTier", package: "CacheStore"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HTTPCaching", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheConfigurationTests",
            dependencies: [
                "CacheConfiguration",
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheStoreTesting", package: "CacheStore"),
                .product(name: "CacheTier", package: "CacheStore"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HTTPCaching", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheLifecycle",
            dependencies: [
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheLifecycleTests",
            dependencies: [
                "AsyncHTTPClientCaching", "CacheLifecycle",
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheStoreTesting", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "LoopbackOrigin", package: "CacheStore"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheTracing",
            dependencies: [
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheTracingTests",
            dependencies: [
                "AsyncHTTPClientCaching", "CacheTracing",
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheStoreTesting", package: "CacheStore"),
                .product(name: "CacheTier", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "LoopbackOrigin", package: "CacheStore"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HummingbirdCaching",
            dependencies: [
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            // Hummingbird calls its middleware off the caller's actor.
            swiftSettings: Array(swiftSettings.dropLast())
        ),
        .testTarget(
            name: "HummingbirdCachingTests",
            dependencies: [
                "AsyncHTTPClientCaching", "HummingbirdCaching",
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheStoreTesting", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "LoopbackOrigin", package: "CacheStore"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: Array(swiftSettings.dropLast())
        ),
        .target(
            name: "HummingbirdInspector",
            dependencies: [
                .product(name: "CacheInspector", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: Array(swiftSettings.dropLast())
        ),
        .testTarget(
            name: "HummingbirdInspectorTests",
            dependencies: [
                "HummingbirdInspector",
                .product(name: "CacheInspector", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheStoreTesting", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: Array(swiftSettings.dropLast())
        ),
    ],
    swiftLanguageModes: [.v6]
)
