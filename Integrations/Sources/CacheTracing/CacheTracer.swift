public import CacheLoader
internal import Foundation
public import Tracing

/// Creates a span for each step of a request through a cache or a loader: lookup, wait and commit.
///
/// ```swift
/// var configuration = HTTPCache.Configuration()
/// configuration.observer = CacheTracer()
/// let cache = HTTPCache(
///     store: store, transport: TracingTransport(AsyncHTTPClientTransport()), configuration: configuration)
/// ```
///
/// The spans are children of the span in which the program calls the cache. Each request has its own spans for lookup
/// and wait, even if requests share an exchange with the origin. The spans of the exchange and of the commit belong to
/// the request that started the exchange. ``TracingTransport`` creates the span of the exchange.
///
/// | span | kind | attributes |
/// |---|---|---|
/// | `cache lookup` | internal | `cachestore.lookup.hit` |
/// | `cache wait` | internal | `cachestore.wait.reason`: `sharedRequest`, `otherProcess` or `lane` |
/// | `cache commit` | internal | `cachestore.commit.stored` |
/// | `upstream lookup` | internal | `cachestore.upstream.result`: `hit`, `miss`, `timeout`, `error` or `skipped`; `cachestore.upstream.name` |
///
/// A shared tier reports its steps to the tracer if the tracer is the `observer` of its configuration, in `CacheTier`.
///
/// Each span also has `http.request.method` and `url.full` by [OpenTelemetry's
/// conventions](https://opentelemetry.io/docs/specs/semconv/http/http-spans/). `url.full` has no user and no password,
/// and `REDACTED` in place of known signatures.
///
/// Works on any thread. Costs the tracer's time for a span, on the thread of the step.
public final class CacheTracer: RequestObserver {
    private let tracer: any Tracer

    /// Creates an observer that creates spans with `tracer`. By default, the tracer with which
    /// swift-distributed-tracing is now bootstrapped.
    public init(_ tracer: any Tracer = InstrumentationSystem.tracer) {
        self.tracer = tracer
    }

    /// Creates a span for a step.
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

    /// Returns a scope that keeps the current span, or its absence.
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
    /// Clamps a time before 1970 to 1970.
    fileprivate init(_ date: Date) {
        self.init(nanosecondsSinceEpoch: UInt64(min(max(0, date.timeIntervalSince1970), 1e10) * 1e9))
    }
}
