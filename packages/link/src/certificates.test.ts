import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import {
  type CertificateTerms,
  CertificateUnusable,
  issueCertificate,
  newAuthority,
} from "./certificates.js";

const UNTIL = new Date("2031-05-06T07:08:09Z");
const EDGE: CertificateTerms = { name: "edge", role: "client", until: UNTIL };

test("a certificate: signed by its authority, with name, role, hosts and dates", () => {
  const authority = newAuthority("venue", UNTIL);
  const hosts = ["core.example", "10.0.0.1"];
  const issued = issueCertificate(authority, {
    name: "core 1",
    role: "server",
    hosts,
    until: UNTIL,
  });
  const [cert, ca] = [new X509Certificate(issued.cert), new X509Certificate(authority.cert)];
  expect([ca.ca, ca.subject, ca.issuer]).toEqual([true, "CN=venue", "CN=venue"]);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect([cert.ca, cert.subject, cert.issuer]).toEqual([false, "CN=core 1", "CN=venue"]);
  expect(cert.checkIssued(ca)).toBe(true);
  expect(cert.verify(ca.publicKey)).toBe(true);
  expect(cert.subjectAltName).toBe("DNS:core.example, IP Address:10.0.0.1");
  expect(cert.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect(cert.validToDate).toEqual(UNTIL);
  expect(cert.validFromDate.getTime()).toBeLessThan(Date.now());
  expect(cert.serialNumber).toMatch(/^01[0-9A-F]{30}$/);
});

test("two certificates: other keys and other serial numbers", () => {
  const authority = newAuthority("venue", UNTIL);
  const issued = [1, 2].map(() => issueCertificate(authority, EDGE));
  const read = issued.map(({ cert }) => new X509Certificate(cert));
  expect(new Set(read.map(({ serialNumber }) => serialNumber)).size).toBe(2);
  expect(new Set(issued.map(({ key }) => key)).size).toBe(2);
});

test.each(["2049-12-31T23:59:59Z", "2050-01-01T00:00:00Z", "2099-06-07T08:09:10Z"])(
  "valid until %s",
  (text) => {
    const { cert } = newAuthority("venue", new Date(text));
    expect(new X509Certificate(cert).validToDate).toEqual(new Date(text));
  },
);

test.each([
  ["a letter", "a"],
  ["127 bytes", "a".repeat(127)],
  ["over 127 bytes", "a".repeat(200)],
  ["over 255 bytes", "é".repeat(200)],
  ["a comma, a sign and a letter of another alphabet", "a, CN=b + ж"],
])("an authority whose name has %s signs", (_, name) => {
  const authority = newAuthority(name, UNTIL);
  const ca = new X509Certificate(authority.cert);
  const cert = new X509Certificate(issueCertificate(authority, EDGE).cert);
  expect(cert.checkIssued(ca)).toBe(true);
  expect(cert.issuer).toBe(ca.subject);
});

test("what cannot sign: another certificate, another key, another curve, no PEM", () => {
  const authority = newAuthority("venue", UNTIL);
  const leaf = issueCertificate(authority, EDGE);
  const other = newAuthority("venue", UNTIL);
  const rsa = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey;
  const wrong = (cert: string, key: string) => () => issueCertificate({ cert, key }, EDGE);
  expect(wrong(leaf.cert, leaf.key)).toThrow("the certificate is not an authority's");
  expect(wrong(authority.cert, other.key)).toThrow("not that of the authority's certificate");
  expect(wrong(authority.cert, rsa)).toThrow(CertificateUnusable);
  expect(wrong("", authority.key)).toThrow("no certificate and key in PEM");
  expect(wrong(authority.cert, "key")).toThrow("no certificate and key in PEM");
});
