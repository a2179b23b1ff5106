// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Elsewhere a resource would link Foundation with its internationalization into every program: SwiftPM generates code that
// imports it.
#if canImport(Darwin)
let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let ignoredFiles: [String] = []
#else
let privacyManifest: [Resource] = []
let ignoredFiles = ["PrivacyInfo.xcprivacy"]
#endif

// Apple's systems have URLSession.
let curl: TargetDependencyCondition? = .when(platforms: [.linux, .android, .openbsd], traits: ["Curl"])
let brotli: TargetDependencyCondition? = .when(traits: ["Brotli"])
let zstd: TargetDependencyCondition? = .when(traits: ["Zstd"])

let package = Package(
    name: "CacheStore",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CacheStore", targets: ["CacheStore"]),
        .library(name: "CacheLoader", targets: ["CacheLoader"]),
        .library(name: "CacheTransport", targets: ["CacheTransport"]),
        .library(name: "CacheModels", targets: ["CacheModels"]),
        .library(name: "CacheImages", targets: ["CacheImages"]),
        .library(name: "CacheImagesUI", targets: ["CacheImagesUI"]),
        .library(name: "CacheInspector", targets: ["CacheInspector"]),
        .library(name: "CacheTier", targets: ["CacheTier"]),
        .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
        .library(name: "CacheStoreTesting", targets: ["CacheStoreTesting"]),
        // Not a part of CacheStoreTesting, because it needs Swift Testing, which previews lack.
        .library(name: "CacheStoreTestTraits", targets: ["CacheStoreTestTraits"]),
        // Not a part of CacheStoreTesting, because it needs SwiftNIO.
        .library(name: "LoopbackOrigin", targets: ["LoopbackOrigin"]),
        .library(name: "URLSessionCompatibility", targets: ["URLSessionCompatibility"]),
        .executable(name: "cachestore", targets: ["CacheStoreTool"]),
    ],
    traits: [
        .trait(
            name: "Curl",
            description: "The transport on libcurl, on Linux. Without it Linux needs a transport of yours."
        ),
        .trait(
            name: "Brotli",
            description: "The content codings br and dcb. Without it CacheLoader needs no libbrotli."
        ),
        .trait(
            name: "Zstd",
            description: "The content codings zstd and dcz. Without it CacheLoader needs no libzstd."
        ),
        .default(enabledTraits: ["Curl"]),
    ],
    dependencies: [
        // What the libraries stand on.
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        // What only the tool, the products CacheInspector and LoopbackOrigin, and the tests stand on; no other library product
        // builds these.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .systemLibrary(
            name: "CCurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        .systemLibrary(
            name: "CZlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(
            name: "CBrotli",
            providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]
        ),
        .systemLibrary(
            name: "CZstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]
        ),
        .target(name: "CPlatform"),
        // So that no program on Linux links Foundation with its internationalization.
        .target(name: "CacheFoundation", swiftSettings: swiftSettings),
        // Hexadecimal digits, percent-encoding and hashes of bytes, which all others share.
        .target(name: "ByteText", swiftSettings: swiftSettings),
        .target(name: "CSQLiteVFS", dependencies: ["CSQLite"]),
        .target(
            name: "Migrations",
            path: "Migrations",
            resources: [.embedInCode("v001_initial.sql")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheStore",
            dependencies: [
                "ByteText",
                "CPlatform",
                "CSQLite",
                "CSQLiteVFS",
                "CacheFoundation",
                "Migrations",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ignoredFiles,
            resources: privacyManifest,
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HTTPCaching",
            dependencies: [
                "ByteText",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            // The content codings of HTTP, with their C libraries.
            name: "CacheCodings",
            dependencies: [
                .target(name: "CBrotli", condition: brotli),
                "CZlib",
                .target(name: "CZstd", condition: zstd),
                "CacheFoundation",
                "HTTPCaching",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            // HTTP on the wire. CacheLoader exports it.
            name: "CacheTransport",
            dependencies: [
                .target(name: "CCurl", condition: curl),
                "CacheFoundation",
                "HTTPCaching",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheLoader",
            dependencies: [
                "ByteText",
                "CacheCodings",
                "CacheFoundation",
                "CacheStore",
                "CacheTransport",
                "HTTPCaching",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ignoredFiles,
            resources: privacyManifest,
            swiftSettings: swiftSettings
        ),
        .target(
            // What the tool and the inspector both compute from a store.
            name: "CacheReports",
            dependencies: [
                "ByteText",
                "CacheLoader", "CacheStore", "HTTPArchive",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        // The page of the inspector: the compiler embeds the files of Web.
        .target(name: "CInspectorPage", exclude: ["Web"]),
        .target(
            name: "CacheInspector",
            dependencies: [
                "ByteText",
                "CInspectorPage",
                "CacheCodings",
                "CacheLoader",
                "CacheReports",
                "CacheStore",
                "HTTPArchive",
                "HTTPCaching",
                "LoopbackHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            // A cache that machines share, on a server that takes PUT. Speaks through any transport, so that it needs no
            // trait.
            name: "CacheTier",
            dependencies: [
                "ByteText",
                "CacheFoundation", "CacheLoader", "CacheStore", "HTTPCaching",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        // The states of loads for views, and for parts of a program that share a load.
        .target(
            name: "CacheModels", dependencies: ["CacheFoundation", "CacheLoader", "HTTPCaching"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheImages", dependencies: ["CacheFoundation", "CacheLoader", "CacheModels"],
            swiftSettings: swiftSettings
        ),
        // Empty on systems without SwiftUI. A module of its own, so that programs without views do not link SwiftUI.
        .target(
            name: "CacheImagesUI", dependencies: ["CacheImages", "CacheLoader", "CacheModels"],
            swiftSettings: swiftSettings
        ),
        .target(
            // HTTP Archives, for replays in tests and for the tool.
            name: "HTTPArchive",
            dependencies: [
                "CacheCodings", "CacheFoundation", "CacheTransport", "HTTPCaching",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheStoreTesting",
            dependencies: [
                "CacheFoundation", "CacheStore", "CacheLoader", "CacheTier", "HTTPArchive",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "CacheStoreTestTraits",
            dependencies: [
                "CacheFoundation", "CacheLoader", "CacheStoreTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            // The types of URLSession are in FoundationNetworking on Linux, which CacheLoader must not need. A module, not
            // a trait: a trait that one package enables would link FoundationNetworking into all programs with it.
            name: "URLSessionCompatibility",
            dependencies: [
                "CacheCodings", "CacheLoader", "CacheStore", "HTTPCaching",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            // The server of LoopbackOrigin and CacheInspector.
            name: "LoopbackHTTP",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "LoopbackOrigin",
            dependencies: [
                "ByteText",
                "CacheFoundation",
                "HTTPCaching",
                "LoopbackHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "CacheStoreTool",
            dependencies: [
                "ByteText",
                "CacheInspector",
                "CacheLoader",
                "CacheReports",
                "CacheStore",
                "CacheTier",
                "HTTPArchive",
                "LoopbackOrigin",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        // Bounds how many test cases run at once, and makes the store take Darwin's paths if the environment says so, before
        // the first one starts.
        .target(name: "CTestDefaults", dependencies: ["CPlatform"], path: "Tests/CTestDefaults"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CTestDefaults", "CacheLoader", "CacheStore", "CacheStoreTesting", "HTTPCaching", "LoopbackOrigin",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings
        ),
        // What the fault tests and the program that they break share.
        .target(name: "FaultModel", path: "Tests/FaultModel", swiftSettings: swiftSettings),
        // Takes the place of libc's file functions in the program that it is linked into, and in no other.
        .target(name: "CFaults", path: "Tests/CFaults"),
        .executableTarget(
            name: "StoreScenario",
            dependencies: ["CFaults", "CTestDefaults", "CacheStore", "FaultModel"],
            path: "Tests/StoreScenario",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            // What Scripts/instructions counts. Not of the package Benchmarks, because the tests are built anyway.
            name: "InstructionScenario",
            dependencies: [
                "CacheStore", "CacheLoader", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Benchmarks/Instructions",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            // Parts of the tool; the folder Program runs the tool.
            name: "CacheStoreToolTests",
            dependencies: [
                "CacheLoader", "CacheReports", "CacheStore", "CacheStoreTesting", "CacheStoreTool", "HTTPCaching",
                "LoopbackOrigin", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            // Loads beside another process that does the same.
            name: "PrefetchScenario",
            dependencies: [
                "CTestDefaults", "CacheStore", "CacheLoader", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/PrefetchScenario",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            // A machine of the fleet that Scripts/tier-lab runs.
            name: "TierMachine",
            dependencies: [
                "CacheLoader", "CacheStore", "CacheTier", "LoopbackOrigin",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/TierMachine",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            // Runs StoreScenario, but is not linked with it: then it would be watched itself.
            name: "FaultTests",
            dependencies: ["CacheStore", "CacheStoreTesting", "FaultModel", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheStoreTests",
            dependencies: [
                "CSQLite", "CacheStore", "CacheStoreTesting", "Migrations", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HTTPCachingTests",
            dependencies: [
                "HTTPCaching", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheLoaderTests",
            dependencies: [
                "CSQLite", "CacheStore", "CacheLoader", "CacheModels", "CacheStoreTesting", "HTTPCaching",
                "LoopbackOrigin", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            // The folder HTTPCache of CacheLoader.
            name: "HTTPCacheTests",
            dependencies: [
                "CacheCodings", "CacheLoader", "CacheStore", "CacheStoreTesting", "HTTPCaching", "LoopbackOrigin",
                "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            // The folder Transport of CacheLoader.
            name: "TransportTests",
            dependencies: [
                "CacheLoader", "CacheStoreTesting", "LoopbackOrigin", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            exclude: ["Curl/faulty_http2_origin.py"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheCodingsTests",
            dependencies: [
                "CacheCodings", "CacheLoader", "CacheStore", "CacheStoreTesting", "HTTPCaching", "LoopbackOrigin",
                "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheModelsTests",
            dependencies: [
                "CacheLoader", "CacheModels", "CacheStoreTesting", "HTTPCaching", "LoopbackOrigin", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "LoopbackOriginTests",
            dependencies: [
                "CacheStoreTesting", "LoopbackHTTP", "LoopbackOrigin", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheStoreTestingTests",
            dependencies: [
                "CacheLoader", "CacheStore", "CacheStoreTestTraits", "CacheStoreTesting", "LoopbackOrigin",
                "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["Recordings"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "URLSessionCompatibilityTests",
            dependencies: [
                "CacheLoader", "CacheStore", "CacheStoreTesting", "LoopbackOrigin", "TestSupport",
                "URLSessionCompatibility",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheInspectorTests",
            dependencies: [
                "CacheInspector", "CacheLoader", "CacheStore", "CacheStoreTesting", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "ByteTextTests", dependencies: ["ByteText"], swiftSettings: swiftSettings),
        .testTarget(
            name: "CacheTierTests",
            dependencies: [
                "ByteText", "CacheLoader", "CacheStore", "CacheStoreTesting", "CacheTier", "HTTPCaching",
                "LoopbackOrigin",
                "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CacheImagesTests",
            dependencies: [
                "CacheImages", "CacheLoader", "CacheModels", "CacheStore", "CacheStoreTesting", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
