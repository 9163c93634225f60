/**
 * The certificates of links between machines: FILE.pem, which is shown to peers, and FILE.key. The
 * key of the authority makes certificates and is needed on no machine of the venue.
 */

import { X509Certificate } from "node:crypto";
import { basename } from "node:path";
import { CertificateUnusable, type Identity, issueCertificate, newAuthority } from "@perpgate/link";
import { StartError } from "../cli/start-error.js";
import { createPrivateFile, readPrivateFile } from "../trader/private-file.js";

interface Terms {
  readonly name?: string;
  readonly ca?: string;
  readonly days?: number;
}

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 825;

/** Returns the certificate's fingerprint. */
export function newAuthorityFiles(file: string, { name, days = AUTHORITY_DAYS }: Terms): string {
  return write(file, newAuthority(name ?? basename(file), inDays(days)));
}

export function newCertificateFiles(
  role: "either" | "client",
  file: string,
  { name, ca, days = CERTIFICATE_DAYS }: Terms,
): string {
  if (ca === undefined) {
    throw new StartError(
      "--ca is missing: perpgate keygen authority FILE makes FILE.pem and FILE.key",
    );
  }
  const authority = { cert: read(`${ca}.pem`), key: read(`${ca}.key`) };
  const terms = { name: name ?? basename(file), role, until: inDays(days) };
  try {
    return write(file, issueCertificate(authority, terms));
  } catch (error) {
    throw error instanceof CertificateUnusable ? new StartError(`${ca}: ${error.message}`) : error;
  }
}

function write(file: string, { cert, key }: Identity): string {
  createPrivateFile(`${file}.key`, key);
  createPrivateFile(`${file}.pem`, cert);
  return new X509Certificate(cert).fingerprint256;
}

function read(path: string): string {
  const text = readPrivateFile(path);
  if (text === undefined) throw new StartError(`there is no ${path}`);
  return text;
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}
