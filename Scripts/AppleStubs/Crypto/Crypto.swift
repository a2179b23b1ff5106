// https://github.com/apple/swift-crypto, Sources/Crypto: on Apple's systems the module re-exports CryptoKit.
@_exported public import CryptoKit
