/** X.509 certificates for tests with TLS, so that they need no program and no file in the repository. */

import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { isIPv4 } from "node:net";

/** In PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

interface Contents {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly until: Date;
  readonly extension: Buffer;
}

const DAY_MS = 86_400_000;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const TRUE = Buffer.from("0101ff", "hex");

const COMMON_NAME = tlv(OBJECT_IDENTIFIER, Buffer.from("550403", "hex"));
const BASIC_CONSTRAINTS = tlv(OBJECT_IDENTIFIER, Buffer.from("551d13", "hex"));
const ALTERNATIVE_NAMES = tlv(OBJECT_IDENTIFIER, Buffer.from("551d11", "hex"));
const ECDSA_SHA256 = tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, Buffer.from("2a8648ce3d040302", "hex")));

export class CertificateAuthority {
  readonly cert: string;
  private readonly key = newKey();

  constructor(private readonly name = "tests") {
    const isAuthority = tlv(OCTET_STRING, tlv(SEQUENCE, TRUE));
    this.cert = this.certify({
      issuer: name,
      subject: name,
      publicKey: createPublicKey(this.key),
      until: new Date(Date.now() + DAY_MS),
      extension: tlv(SEQUENCE, BASIC_CONSTRAINTS, TRUE, isAuthority),
    });
  }

  /** For a server or a client with these IPv4 addresses and names. */
  issue(names: readonly string[], until = new Date(Date.now() + DAY_MS)): Identity {
    const key = newKey();
    const alternatives = tlv(OCTET_STRING, tlv(SEQUENCE, ...names.map(alternativeName)));
    const cert = this.certify({
      issuer: this.name,
      subject: names[0] ?? "",
      publicKey: createPublicKey(key),
      until,
      extension: tlv(SEQUENCE, ALTERNATIVE_NAMES, alternatives),
    });
    return { cert, key: key.export({ type: "pkcs8", format: "pem" }).toString() };
  }

  private certify({ issuer, subject, publicKey, until, extension }: Contents): string {
    const version3 = tlv(0xa0, tlv(INTEGER, Buffer.of(2)));
    const serial = tlv(INTEGER, Buffer.of(1), randomBytes(8));
    const validity = tlv(SEQUENCE, utcTime(new Date(Date.now() - 2 * DAY_MS)), utcTime(until));
    const signed = tlv(
      SEQUENCE,
      version3,
      serial,
      ECDSA_SHA256,
      distinguishedName(issuer),
      validity,
      distinguishedName(subject),
      publicKey.export({ type: "spki", format: "der" }),
      tlv(0xa3, tlv(SEQUENCE, extension)),
    );
    const signature = tlv(BIT_STRING, Buffer.of(0), sign("sha256", signed, this.key));
    const lines = tlv(SEQUENCE, signed, ECDSA_SHA256, signature)
      .toString("base64")
      .replaceAll(/.{64}/g, "$&\n");
    return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  }
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey;
}

function distinguishedName(name: string): Buffer {
  return tlv(SEQUENCE, tlv(SET, tlv(SEQUENCE, COMMON_NAME, tlv(UTF8_STRING, Buffer.from(name)))));
}

function alternativeName(name: string): Buffer {
  return isIPv4(name)
    ? tlv(0x87, Buffer.from(name.split(".").map(Number)))
    : tlv(0x82, Buffer.from(name));
}

/** Without the century, and to the second. */
function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/\D/g, "").slice(2, 14);
  return tlv(UTC_TIME, Buffer.from(`${digits}Z`));
}

/** A value in DER: its tag, its length and its content. */
function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...(length < 128 ? [length] : long)), content]);
}
