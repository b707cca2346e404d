import tls from 'node:tls';

/** Self-signed for a host that does not exist; its key is no secret. */
export const CERTIFICATE = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBpTCCAUqgAwIBAgIUT19mQq2UYIQMAGkakyMtGCWkf9QwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOZWxzZXdoZXJlLnRlc3QwIBcNMjUwMTAxMDAwMDAwWhgPMjEy
NjEwMzAwMDIzNTRaMBkxFzAVBgNVBAMMDmVsc2V3aGVyZS50ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEky7wfhVwAf/l31Q6eq1JXo7kV1HYwRrUx9qb2z2G
+uc51T09CGd56I+ibbOzSp7bO38fWrrCOsnzWJIy9nsC3KNuMGwwHQYDVR0OBBYE
FFgZeGP4gD8rRhlPtoH2fyq6gBqQMB8GA1UdIwQYMBaAFFgZeGP4gD8rRhlPtoH2
fyq6gBqQMA8GA1UdEwEB/wQFMAMBAf8wGQYDVR0RBBIwEIIOZWxzZXdoZXJlLnRl
c3QwCgYIKoZIzj0EAwIDSQAwRgIhANrBOHESagRcBaojTQny2ZPSGYYX/CHrDVV/
ZkjhM70FAiEAzR5R+P9Qxz2+xagdUMpycCDTT+bH71XchKw3NnJRbZk=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzmSwGesiDYxCjdZ4
gDhCicda9L8HLRM+LT6F8v/8udahRANCAASTLvB+FXAB/+XfVDp6rUlejuRXUdjB
GtTH2pvbPYb65znVPT0IZ3noj6Jts7NKnts7fx9ausI6yfNYkjL2ewLc
-----END PRIVATE KEY-----
`,
};

/** Another one for the same host, which has expired. */
export const EXPIRED = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBbjCCARSgAwIBAgIBATAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5lbHNld2hl
cmUudGVzdDAeFw0yNTAxMDEwMDAwMDBaFw0yNTAyMDEwMDAwMDBaMBkxFzAVBgNV
BAMMDmVsc2V3aGVyZS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEjSWF
W46ApaZKpxReePmTKXVtBMrCTtVCxaDCtQJCrgix8w5vv40uEjzXpX5UhU8105aY
2XFO5VCRzsxZKrOEjqNNMEswGQYDVR0RBBIwEIIOZWxzZXdoZXJlLnRlc3QwDwYD
VR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQU1sB+L0sN9nbbG8XpHnW9kDj0hWQwCgYI
KoZIzj0EAwIDSAAwRQIhAJEZN3eoFvyL5bD4TwaNY0IDd+tau30SYlq3yK9EGQXh
AiBeCdJ22zfokqPq/xHIBbueFzsRBtPQCceumzY6fq1Vjg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXvITli26WkWP0UhD
DM3Z8m4Ludg6L5b7Yg/SbP+I9++hRANCAASNJYVbjoClpkqnFF54+ZMpdW0EysJO
1ULFoMK1AkKuCLHzDm+/jS4SPNelflSFTzXTlpjZcU7lUJHOzFkqs4SO
-----END PRIVATE KEY-----
`,
};

/** Trusts CERTIFICATE, which is for a host other than any here, while `work` runs. */
export async function trusting<T>(work: () => Promise<T>): Promise<T> {
  const trusted = tls.getCACertificates();
  tls.setDefaultCACertificates([...trusted, CERTIFICATE.cert]);
  try {
    return await work();
  } finally {
    tls.setDefaultCACertificates(trusted);
  }
}
