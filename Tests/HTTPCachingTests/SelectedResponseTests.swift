import TestSupport

@Suite struct SelectedResponseTests {
    private func choose(
        _ request: HTTPRequest = Sample.request(), _ candidates: StoredResponse..., policy: CachePolicy = CachePolicy()
    ) -> Int? {
        SelectedResponse.choose(for: request, candidates: candidates, policy: policy, fingerprint: Sample.fingerprint)
    }

    @Test("Selection ignores freshness and the directives of response, request and policy")
    func directives() {
        for control in ["no-cache", "max-age=0, must-revalidate", "no-store"] {
            #expect(choose(Sample.request(), Sample.stored("Cache-Control: \(control)")) == 0)
        }
        let stored = Sample.stored("Cache-Control: max-age=60")
        #expect(choose(Sample.request("Cache-Control: no-cache, no-store"), stored) == 0)
        for mode in [.remoteOnly, .revalidateAlways, .cacheOnly] as [CachePolicy.Mode] {
            #expect(choose(Sample.request(), stored, policy: CachePolicy(mode: mode)) == 0)
        }
    }

    @Test("RFC 9111 §4.1: the request selects by the fields that Vary nominates, and by credentials")
    func selection() {
        let german = Sample.request("Accept-Language: de")
        let french = Sample.request("Accept-Language: fr")
        let first = Sample.stored("Vary: Accept-Language", for: german)
        let second = Sample.stored("Vary: Accept-Language", for: french)
        #expect(choose(german, first, second) == 0)
        #expect(choose(french, first, second) == 1)
        #expect(choose(Sample.request("Accept-Language: it"), first, second) == nil)
    }

    @Test("RFC 9111 §4: of several responses the most recent by Date is selected")
    func recency() {
        let older = Sample.stored("Date: \(Sample.time(-10))")
        let newer = Sample.stored("Date: \(Sample.time(-5))")
        #expect(choose(Sample.request(), older, newer) == 1)
        #expect(choose(Sample.request(), newer, older) == 0)
    }

    @Test("A response without its body is not selected")
    func missingBody() {
        #expect(choose(Sample.request(), Sample.stored("X: y", hasIntactBody: false)) == nil)
        #expect(choose() == nil)
    }
}
