// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "CacheStore", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    ],
    targets: [
        .target(name: "CBaseline", path: "CBaseline", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "scale",
            dependencies: [.product(name: "CacheStore", package: "CacheStore")],
            path: "Scale"
        ),
        .executableTarget(
            name: "StoreBenchmarks",
            dependencies: [
                "CBaseline",
                .product(name: "CacheStore", package: "CacheStore"),
                .product(name: "CacheLoader", package: "CacheStore"),
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Benchmarks/StoreBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
