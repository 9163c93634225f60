/**
 * What this process keeps for the operations that a core answers: the link to it, the sessions that it
 * knows, and the checks that need no state of the venue.
 */

import type { CoreAccess } from "@perpgate/link";
import { EdgeSessions } from "./auth/edge-sessions.js";
import { SessionChanges } from "./auth/session-changes.js";
import type { SignInRules, SignInServices } from "./auth/sign-in.js";
import { SignIns } from "./auth/sign-ins.js";
import { SignatureCheck } from "./auth/signature-check.js";
import type { LogProgress } from "./http/log-position.js";
import { Admission } from "./limits/admission.js";
import type { LimitSettings } from "./limits/limit-settings.js";
import { failedSignatureLimit, type KeyedLimit, NewAccountLimit } from "./limits/limits.js";
import { BookReads } from "./operations/book-reads.js";

interface EdgeOptions {
  /** Before its first frame arrives: the core may send notices immediately. */
  readonly link: CoreAccess;
  readonly limits: LimitSettings;
  readonly signIn: SignInRules;
  readonly services: SignInServices;
}

export class Edge implements LogProgress {
  readonly link: CoreAccess;
  readonly sessions: EdgeSessions;
  readonly signIns: SignIns;
  readonly changes: SessionChanges;
  readonly failedSignatures: KeyedLimit<number>;
  /** Orders that are not answered yet. */
  readonly admission: Admission;
  readonly signatures = new SignatureCheck();
  readonly books: BookReads;

  constructor({ link, limits, signIn, services }: EdgeOptions) {
    this.link = link;
    this.sessions = new EdgeSessions(link);
    this.books = new BookReads(link);
    const { sessions } = this;
    const newAccounts = new NewAccountLimit(limits);
    this.signIns = new SignIns(link, sessions, signIn, services, newAccounts);
    this.admission = new Admission(limits.pendingOrders);
    this.failedSignatures = failedSignatureLimit(limits);
    const { failedSignatures, signatures } = this;
    this.changes = new SessionChanges({ link, sessions, signatures, failedSignatures });
  }

  /** The last position that the core has shown. */
  get position(): number {
    return this.link.position;
  }

  get isReplicated(): boolean {
    return this.link.isReplicated;
  }

  reached(position: number): Promise<boolean> {
    return this.awaited(position, false);
  }

  reachedIfAnswered(position: number): Promise<boolean> {
    return this.awaited(position, true);
  }

  private async awaited(position: number, isAnswered: boolean): Promise<boolean> {
    if (position <= this.position) return true;
    const asked = { position: Math.min(position, Number.MAX_SAFE_INTEGER), isAnswered };
    const { isReached } = await this.link.request("awaitPosition", asked);
    return isReached;
  }
}
