import TestSupport

/// Checks events against the grammar of ``LoadEvent``.
func expectGrammatical<Output>(
    _ events: [LoadEvent<Output>], sourceLocation: SourceLocation = #_sourceLocation
) {
    var rest = events[...]
    var hadCached = false
    if case .cached? = rest.first {
        hadCached = true
        rest.removeFirst()
    }
    if case .requesting(let says)? = rest.first {
        #expect(says || !hadCached, "it had one", sourceLocation: sourceLocation)
        rest.removeFirst()
        var received: Int64 = 0
        loop: while true {
            switch rest.first {
            case .progress(let next, _)?:
                #expect(next > received, "less than before", sourceLocation: sourceLocation)
                received = next
            case .retrying?, .storeFailed?: break
            default: break loop
            }
            rest.removeFirst()
        }
    }
    #expect(rest.count == 1, "\(events.map(\.name))", sourceLocation: sourceLocation)
    #expect(rest.first?.isLast == true, "\(events.map(\.name))", sourceLocation: sourceLocation)
}

extension LoadEvent {
    /// The resource of a completed load.
    var loaded: Loaded<Output>? { if case .completed(let loaded) = self { loaded } else { nil } }

    /// The name of the case.
    var name: String {
        switch self {
        case .cached: "cached"
        case .requesting(let hadCached): hadCached ? "requesting again" : "requesting"
        case .progress(let received, let total): "progress \(received)/\(total.map(String.init) ?? "?")"
        case .retrying(_, let failedAttempts, _): "retrying \(failedAttempts)"
        case .storeFailed: "storeFailed"
        case .completed(let loaded): "completed \(loaded.source)"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}

extension AsyncStream {
    /// All elements.
    var all: [Element] {
        get async {
            var elements: [Element] = []
            for await element in self { elements.append(element) }
            return elements
        }
    }
}
