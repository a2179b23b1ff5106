extension CacheControl {
    /// The value of a `Cache-Control` field with these directives, such as `max-age=60, public`. Empty without
    /// directives.
    ///
    /// Parsing the value restores the directives. A malformed directive, or a number below 0, appears without its
    /// argument, as `max-age=`, and so stays malformed for every reader. A number above ``DeltaSeconds/limit`` becomes
    /// the limit (RFC 9111 §1.2.2). If any of ``noCacheFields`` is no token, `no-cache` appears without field names and
    /// covers the whole response.
    public var fieldValue: String {
        var elements: [String] = []
        func write(_ name: String, _ isSet: Bool, isMalformed: Bool = false) {
            if isSet { elements.append(isMalformed ? "\(name)=" : name) }
        }
        func write(_ name: String, _ seconds: DeltaSeconds) {
            switch seconds {
            case .absent: break
            case .seconds(let number) where number >= 0: elements.append("\(name)=\(min(number, DeltaSeconds.limit))")
            case .malformed, .seconds: elements.append("\(name)=")
            }
        }
        write("max-age", maxAge)
        write("s-maxage", sharedMaxAge)
        if maxStale == .seconds(.max) { write("max-stale", true) } else { write("max-stale", maxStale) }
        write("min-fresh", minFresh)
        let hasTokens = noCacheFields.allSatisfy { HTTPField.Name($0) != nil }
        write("no-cache", noCache || !hasTokens)
        if hasTokens, !noCacheFields.isEmpty {
            elements.append("no-cache=\"\(noCacheFields.joined(separator: ", "))\"")
        }
        write("no-store", noStore)
        write("no-transform", noTransform)
        write("private", isPrivate, isMalformed: privateIsMalformed)
        write("public", isPublic)
        write("must-revalidate", mustRevalidate, isMalformed: mustRevalidateIsMalformed)
        write("proxy-revalidate", proxyRevalidate)
        write("must-understand", mustUnderstand)
        write("immutable", isImmutable)
        write("only-if-cached", onlyIfCached)
        write("stale-while-revalidate", staleWhileRevalidate)
        write("stale-if-error", staleIfError)
        return elements.joined(separator: ", ")
    }
}
