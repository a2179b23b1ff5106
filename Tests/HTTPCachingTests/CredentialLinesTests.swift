import TestSupport

@Suite struct CredentialLinesTests {
    private func lines(_ fields: String...) -> String {
        var request = Sample.request()
        request.headerFields = Sample.fields(fields)
        return VaryKey.credentials(of: request, fingerprint: Sample.fingerprint).text
    }

    @Test("Each field with credentials becomes a sorted line with a fingerprint; other fields become none")
    func text() {
        #expect(lines() == "")
        #expect(lines("Accept: a", "X-Token: b") == "")
        #expect(
            lines("Cookie: a=1", "Accept: a", "Authorization: Bearer x")
                == "authorization: \(Sample.fingerprint(name: "authorization", value: "Bearer x"))\n"
                + "cookie: \(Sample.fingerprint(name: "cookie", value: "a=1"))")
        #expect(
            lines("Proxy-Authorization: Basic x")
                == "proxy-authorization: \(Sample.fingerprint(name: "proxy-authorization", value: "Basic x"))")
    }

    @Test("Combines the lines of one field before the fingerprint")
    func combined() {
        #expect(lines("Cookie: a=1", "Cookie: b=2") == lines("Cookie: a=1; b=2"))
        #expect(lines("Cookie: a=1", "Cookie: b=2") != lines("Cookie: b=2", "Cookie: a=1"))
    }
}
