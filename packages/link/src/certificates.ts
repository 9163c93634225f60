/**
 * X.509 certificates (RFC 5280) of a venue's own authority: P-256 keys, ECDSA with SHA-256. Node reads
 * certificates and cannot make them; what is written here is the little that TLS needs of the format.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIPv4 } from "node:net";

/** A certificate and its private key, in PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** What TLS lets the holder of a certificate be: the side that listens, the one that connects, or either. */
export type TlsRole = "server" | "client" | "either";

export interface CertificateTerms {
  /** The common name, and what else it is valid for: names and IPv4 addresses of a server. */
  readonly name: string;
  readonly role: TlsRole;
  readonly hosts?: readonly string[];
  readonly until: Date;
}

export class CertificateUnusable extends Error {}

interface Contents {
  /** In DER, as the subject of the issuer's certificate. */
  readonly issuer: Buffer;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly until: Date;
  readonly extensions: readonly Buffer[];
}

/** For clocks that are behind. */
const BEGUN_MS = 86_400_000;
const SERIAL_BYTES = 16;
/** From then on dates are written with their century. */
const CENTURY = 2050;
const CURVE = "prime256v1";

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;
/** Tags of the format's own. */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

const TRUE = tlv(BOOLEAN, Buffer.of(0xff));
const COMMON_NAME = oid("550403");
const KEY_USAGE = oid("551d0f");
const ALTERNATIVE_NAMES = oid("551d11");
const BASIC_CONSTRAINTS = oid("551d13");
const EXTENDED_KEY_USAGE = oid("551d25");
const SERVER = oid("2b06010505070301");
const CLIENT = oid("2b06010505070302");
const ECDSA_SHA256 = tlv(SEQUENCE, oid("2a8648ce3d040302"));
/** Bits from the left: signing certificates and lists; signing a handshake. */
const SIGNS_CERTIFICATES = tlv(BIT_STRING, Buffer.of(1, 0x06));
const SIGNS_HANDSHAKES = tlv(BIT_STRING, Buffer.of(7, 0x80));

const PURPOSES: Readonly<Record<TlsRole, readonly Buffer[]>> = {
  server: [SERVER],
  client: [CLIENT],
  either: [SERVER, CLIENT],
};

/** An authority that signs certificates of its own, and of no other authority. */
export function newAuthority(name: string, until: Date): Identity {
  const key = newKey();
  const isAuthority = tlv(SEQUENCE, TRUE, tlv(INTEGER, Buffer.of(0)));
  const cert = certificate(
    {
      issuer: distinguishedName(name),
      subject: name,
      publicKey: createPublicKey(key),
      until,
      extensions: [
        extension(BASIC_CONSTRAINTS, isAuthority, { isCritical: true }),
        extension(KEY_USAGE, SIGNS_CERTIFICATES, { isCritical: true }),
      ],
    },
    key,
  );
  return { cert, key: pemOf(key) };
}

/** @throws CertificateUnusable if the authority cannot sign. */
export function issueCertificate(
  authority: Identity,
  { name, role, hosts = [], until }: CertificateTerms,
): Identity {
  const signer = signerOf(authority);
  const key = newKey();
  const names = hosts.map((host) =>
    isIPv4(host)
      ? tlv(IP_ADDRESS, Buffer.from(host.split(".").map(Number)))
      : tlv(DNS_NAME, Buffer.from(host)),
  );
  const cert = certificate(
    {
      issuer: signer.subject,
      subject: name,
      publicKey: createPublicKey(key),
      until,
      extensions: [
        extension(BASIC_CONSTRAINTS, tlv(SEQUENCE), { isCritical: true }),
        extension(KEY_USAGE, SIGNS_HANDSHAKES, { isCritical: true }),
        extension(EXTENDED_KEY_USAGE, tlv(SEQUENCE, ...PURPOSES[role])),
        ...(names.length === 0 ? [] : [extension(ALTERNATIVE_NAMES, tlv(SEQUENCE, ...names))]),
      ],
    },
    signer.key,
  );
  return { cert, key: pemOf(key) };
}

function signerOf({ cert, key }: Identity): { key: KeyObject; subject: Buffer } {
  let read: { certificate: X509Certificate; key: KeyObject };
  try {
    read = { certificate: new X509Certificate(cert), key: createPrivateKey(key) };
  } catch {
    throw new CertificateUnusable("the authority is no certificate and key in PEM");
  }
  if (!read.certificate.ca) throw new CertificateUnusable("the certificate is not an authority's");
  if (!read.certificate.checkPrivateKey(read.key)) {
    throw new CertificateUnusable("the key is not that of the authority's certificate");
  }
  const curve = read.key.asymmetricKeyDetails?.namedCurve;
  if (curve !== CURVE)
    throw new CertificateUnusable("the authority's key is not on the curve P-256");
  return { key: read.key, subject: subjectIn(read.certificate.raw) };
}

function certificate(contents: Contents, key: KeyObject): string {
  const { issuer, subject, publicKey, until, extensions } = contents;
  const signed = tlv(
    SEQUENCE,
    tlv(VERSION, tlv(INTEGER, Buffer.of(2))),
    // Positive, and of the same length always.
    tlv(INTEGER, Buffer.of(1), randomBytes(SERIAL_BYTES - 1)),
    ECDSA_SHA256,
    issuer,
    tlv(SEQUENCE, time(new Date(Date.now() - BEGUN_MS)), time(until)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tlv(EXTENSIONS, tlv(SEQUENCE, ...extensions)),
  );
  const signature = tlv(BIT_STRING, Buffer.of(0), sign("sha256", signed, key));
  return new X509Certificate(tlv(SEQUENCE, signed, ECDSA_SHA256, signature)).toString();
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: CURVE }).privateKey;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function distinguishedName(name: string): Buffer {
  return tlv(SEQUENCE, tlv(SET, tlv(SEQUENCE, COMMON_NAME, tlv(UTF8_STRING, Buffer.from(name)))));
}

function extension(id: Buffer, value: Buffer, { isCritical = false } = {}): Buffer {
  return tlv(SEQUENCE, id, ...(isCritical ? [TRUE] : []), tlv(OCTET_STRING, value));
}

/** To the second. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/\D/g, "").slice(0, 14);
  return date.getUTCFullYear() < CENTURY
    ? tlv(UTC_TIME, Buffer.from(`${digits.slice(2)}Z`))
    : tlv(GENERALIZED_TIME, Buffer.from(`${digits}Z`));
}

function oid(hex: string): Buffer {
  return tlv(OBJECT_IDENTIFIER, Buffer.from(hex, "hex"));
}

/** A value in DER: its tag, its length and its content. */
function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length >= 1 << 16) throw new CertificateUnusable("the names are too long for a certificate");
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...(length < 128 ? [length] : long)), content]);
}

/** The subject of a valid certificate, as it stands there. */
function subjectIn(der: Buffer): Buffer {
  const signed = contentAt(der, contentAt(der, 0).begin);
  // Version, serial number, algorithm, issuer, validity.
  let at = signed.begin;
  for (let field = 0; field < 5; field++) at = contentAt(der, at).end;
  return der.subarray(at, contentAt(der, at).end);
}

function contentAt(der: Buffer, at: number): { begin: number; end: number } {
  const first = der[at + 1] ?? 0;
  const lengthBytes = first < 128 ? 0 : first - 128;
  const begin = at + 2 + lengthBytes;
  return { begin, end: begin + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes)) };
}
