/** Certificates of one venue, valid for a day. */

import { type Identity, issueCertificate, newAuthority, type TlsRole } from "../certificates.js";
import type { LinkIdentity } from "../tls-socket.js";

const DAY_MS = 86_400_000;

export interface VenueCertificates {
  readonly authority: Identity;
  identityOf(role: TlsRole, name?: string, until?: Date): LinkIdentity;
}

export function newVenueCertificates(): VenueCertificates {
  const tomorrow = new Date(Date.now() + DAY_MS);
  const authority = newAuthority("tests", tomorrow);
  return {
    authority,
    identityOf: (role, name = role, until = tomorrow) => ({
      ca: authority.cert,
      ...issueCertificate(authority, { name, role, until }),
    }),
  };
}
