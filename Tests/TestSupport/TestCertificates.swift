/// Certificates of a test authority, valid for a century. They protect nothing.
package enum TestCertificates {
    /// The root certificate of the authority.
    package static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBnDCCAUKgAwIBAgIBATAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMzIyMzA0M1oYDzIxMjUwNjE3MjIz
        MDQzWjAkMSIwIAYDVQQDDBlDYWNoZVN0b3JlIHRlc3QgYXV0aG9yaXR5MFkwEwYH
        KoZIzj0CAQYIKoZIzj0DAQcDQgAEybdMfk3tMHAVu/k9D75cD9/j6B4420olTiiW
        3AP67K06COT0fawE/+lRYZHF7/PM05jBpSSJaU3p0oCg749o/aNjMGEwHQYDVR0O
        BBYEFOGwYqfONfzU2BzT9ssHODxtKlUjMB8GA1UdIwQYMBaAFOGwYqfONfzU2BzT
        9ssHODxtKlUjMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqG
        SM49BAMCA0gAMEUCIQDyNNf8hYthAC2OAV4BdojMA3wL0+ATc1pY/Z7zCyrBZAIg
        A1W3xcyhyZUNvDrnB8qAyrarBGlscTU+Xg7w/JrGdXQ=
        -----END CERTIFICATE-----
        """

    /// A certificate for 127.0.0.1 alone, issued by the authority.
    package static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBijCCATCgAwIBAgIBAjAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMzIyMzA0M1oYDzIxMjUwNjE3MjIz
        MDQzWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMB
        BwNCAAS/18/GyBXSYshFFao8B/SXzhOm0aInVcorA4gctv6odyOI3HGZl6cZZkmC
        4kxgWWjJZk3bez9IWiR51h9uh/c6o2EwXzAMBgNVHRMBAf8EAjAAMA8GA1UdEQQI
        MAaHBH8AAAEwHQYDVR0OBBYEFI9USzSVc+zsVxHbRPbcfT82S5ZfMB8GA1UdIwQY
        MBaAFOGwYqfONfzU2BzT9ssHODxtKlUjMAoGCCqGSM49BAMCA0gAMEUCIQCnqE9A
        rSPT8yzAjAgal/RanQYNMJAIN2GrPnHi7KMSfQIgek8FStBzkW1qonfrUnHd37mb
        hW7B9D+R7YjXpwLis7Q=
        -----END CERTIFICATE-----
        """

    /// A certificate for other.example alone, issued by the authority.
    package static let otherServer = """
        -----BEGIN CERTIFICATE-----
        MIIBlzCCAT2gAwIBAgIBAzAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMzIyMzA0M1oYDzIxMjUwNjE3MjIz
        MDQzWjAYMRYwFAYDVQQDDA1vdGhlci5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZI
        zj0DAQcDQgAEv9fPxsgV0mLIRRWqPAf0l84TptGiJ1XKKwOIHLb+qHcjiNxxmZen
        GWZJguJMYFloyWZN23s/SFokedYfbof3OqNqMGgwDAYDVR0TAQH/BAIwADAYBgNV
        HREEETAPgg1vdGhlci5leGFtcGxlMB0GA1UdDgQWBBSPVEs0lXPs7FcR20T23H0/
        NkuWXzAfBgNVHSMEGDAWgBThsGKnzjX81Ngc0/bLBzg8bSpVIzAKBggqhkjOPQQD
        AgNIADBFAiEA5hOeSRQEDLNBq8EDbOz99x8JdC4p+Sa//Cb5PPt9DKsCIByue2nO
        yV6rx6iOUmFpZVTOVYON6JRrJIf3NzLaqZyr
        -----END CERTIFICATE-----
        """

    /// The private key of ``server`` and ``otherServer``.
    package static let serverKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiFF8MAFPqWc30ofM
        Te9ElciFbS7gDEnl5YFs5fDrm7uhRANCAAS/18/GyBXSYshFFao8B/SXzhOm0aIn
        VcorA4gctv6odyOI3HGZl6cZZkmC4kxgWWjJZk3bez9IWiR51h9uh/c6
        -----END PRIVATE KEY-----
        """
}
