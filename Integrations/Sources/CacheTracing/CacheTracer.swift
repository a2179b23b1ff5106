public import CacheLoader
internal import Foundation
public import Tracing

/// Makes a span of each step of a request through a cache or a loader: look-up, wait and commit.
///
/// ```swift
/// var configuration = HTTPCache.Configuration()
/// configuration.observer = CacheTracer()
/// let cache = HTTPCache(
///     store: store, transport: TracingTransport(AsyncHTTPClientTransport()), configuration: configuration)
/// ```
///
/// The spans are children of the span in which the program calls the cache. Requests that share an exchange with the
/// origin have spans of their own look-ups and waits. The spans of the exchange and of the commit belong to the request
/// that began the exchange. ``TracingTransport`` makes the span of the exchange.
///
/// | span | kind | attributes |
/// |---|---|---|
/// | `cache lookup` | internal | `cachestore.lookup.hit` |
/// | `cache wait` | internal | `cachestore.wait.reason`: `sharedRequest`, `otherProcess` or `lane` |
/// | `cache commit` | internal | `cachestore.commit.stored` |
/// | `upstream lookup` | internal | `cachestore.upstream.result`: `hit`, `miss`, `timeout`, `error` or `skipped`; `cachestore.upstream.name` |
///
/// The tracer receives the steps of a shared tier as the `observer` of its configuration, in `CacheTier`.
///
/// Each has `http.request.method` and `url.full` by
/// [OpenTelemetry's conventions](https://opentelemetry.io/docs/specs/semconv/http/http-spans/), too. `url.full` has no
/// user, no password, and `REDACTED` in place of known signatures.
///
/// Works on any thread. Takes the time of the tracer for a span, on the thread of the step.
public final class CacheTracer: RequestObserver {
    private let tracer: any Tracer

    /// Creates an observer that makes spans with `tracer`; by default the one with which swift-distributed-tracing is
    /// bootstrapped now.
    public init(_ tracer: any Tracer = InstrumentationSystem.tracer) {
        self.tracer = tracer
    }

    /// Makes a span of a step.
    public func observe(_ step: RequestStep) {
        let (name, values) = Self.description(of: step.kind)
        let span = tracer.startSpan(name, at: DefaultTracerClock.Timestamp(step.beganAt))
        span.updateAttributes { attributes in
            attributes.setMethod(step.method)
            attributes["url.full"] = TracedURL(step.url).description
            for (key, value) in values { attributes[key] = value }
        }
        span.end(at: DefaultTracerClock.Timestamp(step.endedAt))
    }

    /// Returns a scope that keeps the present span, or its absence.
    public func makeScope() -> RequestScope {
        let context = ServiceContext.current
        return { work in await ServiceContext.$current.withValue(context) { await work() } }
    }

    private static func description(of kind: RequestStep.Kind) -> (name: String, values: [(String, SpanAttribute)]) {
        switch kind {
        case .lookup(let isHit): ("cache lookup", [("cachestore.lookup.hit", .bool(isHit))])
        case .wait(let reason): ("cache wait", [("cachestore.wait.reason", .string(reason.rawValue))])
        case .commit(let isStored): ("cache commit", [("cachestore.commit.stored", .bool(isStored))])
        case .upstreamLookup(let result, let name):
            (
                "upstream lookup",
                [("cachestore.upstream.result", .string(result.rawValue)), ("cachestore.upstream.name", .string(name))]
            )
        @unknown default: ("cache step", [("cachestore.step", .string("\(kind)"))])
        }
    }
}

extension DefaultTracerClock.Timestamp {
    /// A time before 1970 becomes 1970.
    fileprivate init(_ date: Date) {
        self.init(nanosecondsSinceEpoch: UInt64(min(max(0, date.timeIntervalSince1970), 1e10) * 1e9))
    }
}
