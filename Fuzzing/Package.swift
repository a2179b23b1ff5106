// swift-tools-version: 6.2
import PackageDescription

// Scripts/fuzz builds this package, because it needs the flags of libFuzzer and access to non-public symbols of the
// libraries.
let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "CacheStore", path: "..", traits: ["Brotli", "Zstd"]),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // The libraries behind CacheLoader's decoders, called in another way for comparison.
        .target(
            name: "CReference",
            linkerSettings: [
                .linkedLibrary("zstd"), .linkedLibrary("brotlidec"), .linkedLibrary("brotlienc"),
            ]
        ),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CReference",
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheTier", package: "CacheStore"),
                .product(name: "CacheTransport", package: "CacheStore"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPCaching", package: "CacheStore"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
