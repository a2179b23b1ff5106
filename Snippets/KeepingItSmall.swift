// The second sample of the README.

import CacheStore
import Foundation

let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]

var configuration = ResponseStore.Configuration()
configuration.limits = Limits(maxBytes: 200 << 20)
let store = try ResponseStore(directory: caches.appending(path: "feeds"), configuration: configuration)

let avatar = try CacheKey(url: "https://example.com/avatar.png", partition: "user-17")
try store.setOptions(EntryOptions(isPinned: true, tags: ["avatars"]), for: avatar)

print(try store.removeAll(.tag("avatars"), dryRun: true).bytes)
try store.removeAll(.partition("user-17"))  // at logout
