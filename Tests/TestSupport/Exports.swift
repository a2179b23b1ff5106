// The modules that most tests need: a test imports `TestSupport`, and what is special about it.
@_exported public import CacheLoader
@_exported public import CacheStore
@_exported public import CacheStoreTesting
@_exported public import Foundation
@_exported public import HTTPCaching
@_exported public import HTTPTypes
@_exported public import LoopbackOrigin
@_exported public import Synchronization
@_exported public import Testing
