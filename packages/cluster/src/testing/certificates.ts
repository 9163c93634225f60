/** X.509 certificates for tests with TLS, so that they need no program and no file in the repository. */

import { type Identity, issueCertificate, newAuthority } from "@perpgate/link";

export type { Identity };

const DAY_MS = 86_400_000;
const tomorrow = () => new Date(Date.now() + DAY_MS);

export class CertificateAuthority {
  private readonly own: Identity;

  constructor(name = "tests") {
    this.own = newAuthority(name, tomorrow());
  }

  get cert(): string {
    return this.own.cert;
  }

  /** For both sides of connections with these IPv4 addresses and names. */
  issue(hosts: readonly string[], until = tomorrow()): Identity {
    return issueCertificate(this.own, { name: hosts[0] ?? "", role: "either", hosts, until });
  }
}
