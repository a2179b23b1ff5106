extension LoadEvent<Int> {
    package static func cached(_ value: Int) -> Self { .cached(Loaded(value, of: "")) }
    package static func completed(_ value: Int) -> Self { .completed(Loaded(value, of: "")) }
}

extension LoadError {
    package static let offline = LoadError.notCached(url: "offline")
}
