// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "CacheStore", path: "..", traits: ["Curl"]),
        // The transport that CurlTransport is compared with.
        .package(path: "../Integrations"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // Used only by compare and transports.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .target(name: "CBaseline", path: "CBaseline", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "Samples",
            dependencies: [
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Samples",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "compare",
            dependencies: [
                "CBaseline",
                "Samples",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            path: "compare",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "transports",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClientCaching", package: "Integrations"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "transports",
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
