/**
 * Signed requests without an answer: remembered, also over a reload, and settled.
 *
 * Once the line is back the same bytes with the same nonce settle a request: the venue returns the answer
 * to the first try, or refuses the request as too late. If its session ends before that, or the page is
 * loaded again, the account's next session looks for the orders with that nonce.
 *
 * Only one request about the same thing is in flight at a time, and while the outcome of one is unknown no
 * further one is sent.
 */

import { ConnectionError, PerpgateError, type Session } from "@perpgate/sdk";
import { type ShownOutcome, shownOutcome } from "../order/outcome.js";
import { Store } from "../state/store.js";
import { type SentRequest, SentRequests } from "./sent-requests.js";
import type { PageClock } from "./venue-clock.js";

/** A request is not retried after this time: the market has moved on. */
export const BUDGET_MS = 5_000;

/** A signed request that was sent and has no answer. */
interface Unsettled {
  readonly key: string;
  /** Undefined for a cancel, which has none. */
  readonly nonce?: number;
  /** The account that sent it. */
  readonly address: string;
  /** What it is about: see `StillPendingError`. */
  readonly subject: string;
  /** What it does, in words. */
  readonly title: string;
  /** Sends the same bytes again. */
  repeat(): Promise<ShownOutcome>;
  /** Asks in a later session of the account, for which the same bytes would be another request. */
  lookUp(session: Session): Promise<ShownOutcome>;
}

/** Without its bytes: a later session of the account asks for it. */
type Left = Omit<Unsettled, "repeat">;

export interface Settlement extends ShownOutcome {
  readonly title: string;
}

/** Not sent: an earlier request about the same thing has no answer yet. */
export class StillPendingError extends Error {
  override readonly name = "StillPendingError";
}

/** What every signed request has besides its own fields. */
interface Terms {
  readonly validUntil: number;
  readonly nonce: number;
}

export interface SendOptions {
  readonly budgetMs: number;
  readonly isRepeat: boolean;
}

export interface RequestName {
  /** The same in any language: no second request of a subject is sent before the first has an answer. */
  readonly subject: string;
  /** What it does, in the trader's words. */
  readonly title: string;
}

/** A signed request, which its nonce settles. */
interface SignedRequest<T> extends RequestName {
  readonly session: Session;
  /** How many orders it places; undefined for what the orders with its nonce do not show. */
  readonly places?: number | undefined;
  /** A withdrawal has no end of validity in the interface: after that of others it is looked for, not sent again. */
  readonly withdraws?: boolean;
  send(terms: Terms, options: SendOptions): Promise<T>;
  outcomeIn(answer: T): ShownOutcome;
}

export const EXECUTED: ShownOutcome = { outcome: "executed" };
const UNKNOWN: ShownOutcome = { outcome: "outcome unknown" };

export class UnsettledRequests {
  readonly list = new Store<readonly Unsettled[]>([], "immediate");
  /** Subjects of the requests in flight. */
  private readonly inFlight = new Set<string>();
  /** The session that was resumed last, until it ends. */
  private current: Session | undefined;
  private readonly sent = new SentRequests();
  /** What ended sessions, and the page before a reload, have left unsettled. */
  private left: readonly Left[];

  /**
   * `validity` gives the end of validity of a request that is sent now, and throws unless one may be sent;
   * `askTime` notes the venue's time in `clock`.
   */
  constructor(
    private readonly clock: PageClock,
    private readonly validity: () => Promise<{ readonly validUntil: number }>,
    private readonly askTime: () => Promise<unknown>,
  ) {
    this.left = this.sent.all.map((request) => this.leftBy(request));
  }

  /** The session has begun: what earlier ones of the account have left unsettled is settled in it. */
  resume(session: Session): void {
    this.current = session;
    const isOwn = ({ address }: Left) => address === session.address;
    const own = this.left.filter(isOwn);
    if (own.length === 0) return;
    this.left = this.left.filter((each) => !isOwn(each));
    const asked = own.map((each) => ({ ...each, repeat: () => each.lookUp(session) }));
    this.list.update((known) => [...known, ...asked]);
  }

  /** The session has ended. */
  forget(): void {
    this.current = undefined;
    this.left = [...this.left, ...this.list.get()];
    this.list.set([]);
  }

  /** Settles what has no answer, each by its own bytes; what has none again is kept. */
  async settle(): Promise<readonly Settlement[]> {
    const settlements: Settlement[] = [];
    for (const unsettled of this.list.get()) {
      const { title } = unsettled;
      try {
        settlements.push({ title, ...(await unsettled.repeat()) });
      } catch (error) {
        if (!(error instanceof PerpgateError) || error.outcome === "unknown") continue;
        settlements.push({ title, outcome: "not executed", error });
      }
      this.drop(unsettled);
    }
    return settlements;
  }

  /** Sends a request with a nonce, by which it is settled. */
  submit<T>(request: SignedRequest<T>): Promise<T> {
    const { session, subject, title, places, withdraws } = request;
    const { address } = session;
    const owner = this.current;
    return this.guarded(subject, async () => {
      const terms = { ...(await this.validity()), nonce: session.newNonce() };
      const sent = { address, ...terms, places, withdraws, subject, title };
      const send = (isRepeat: boolean) => request.send(terms, { budgetMs: BUDGET_MS, isRepeat });
      this.sent.add(sent);
      try {
        const answer = await send(false);
        this.sent.remove(sent);
        return answer;
      } catch (error) {
        if (isUnknown(error)) {
          const repeat = async () => {
            if (withdraws === true && (await this.isOver(sent))) return this.lookUp(session, sent);
            try {
              return request.outcomeIn(await send(true));
            } catch (again) {
              // Another gateway has refused it: the first may execute it while it is valid.
              if (isRefusal(again) && (await this.isOver(sent))) return this.lookUp(session, sent);
              throw again;
            }
          };
          this.keep(owner, { ...this.leftBy(sent), repeat });
        } else {
          this.sent.remove(sent);
        }
        throw error;
      }
    });
  }

  /** Sends a request without a nonce, which `settle` settles. */
  once<T>(
    { address }: Session,
    { subject, title }: RequestName,
    send: () => Promise<T>,
    settle: () => Promise<unknown>,
  ): Promise<T> {
    const owner = this.current;
    return this.guarded(subject, async () => {
      try {
        return await send();
      } catch (error) {
        const repeat = () => settle().then(() => EXECUTED);
        const lookUp = async () => UNKNOWN;
        const unsettled = { key: subject, address, subject, title, repeat, lookUp };
        if (isUnknown(error)) this.keep(owner, unsettled);
        throw error;
      }
    });
  }

  private leftBy(sent: SentRequest): Left {
    const { nonce, address, subject, title } = sent;
    const lookUp = (later: Session) => this.lookUp(later, sent);
    return { key: String(nonce), nonce, address, subject, title, lookUp };
  }

  /** @throws ConnectionError, of unknown outcome, while it may still appear or cannot be read. */
  private async lookUp(session: Session, sent: SentRequest): Promise<ShownOutcome> {
    const { nonce, places, withdraws } = sent;
    const isOver = await this.isOver(sent);
    if (withdraws === true) {
      const known = await session.withdrawals().catch((cause: unknown) => {
        throw new ConnectionError("the withdrawals could not be read", { cause });
      });
      if (known.some((each) => each.nonce === nonce)) return EXECUTED;
    }
    if (places === undefined) {
      if (!isOver) throw new ConnectionError("it may still be executed");
      return UNKNOWN;
    }
    const found = await session.orders({ status: "all", nonce }).catch((cause: unknown) => {
      throw new ConnectionError("the orders could not be read", { cause });
    });
    if (found.length === 0 && !isOver) throw new ConnectionError("it may still be executed");
    const parts = Array.from({ length: places }, (_, at) => {
      const ack = found[at];
      if (ack === undefined) return { status: 400 };
      // A stop was taken, whatever became of it since.
      return {
        status: 200,
        ack: ack.type === "stop" ? { ...ack, status: "pending" as const } : ack,
      };
    });
    return shownOutcome(parts);
  }

  /**
   * Whether the log has passed the end of its validity, so that it appears now or never. The time between
   * samples does not count: a log that stands still executes what it has taken at its own, earlier time.
   *
   * @throws ConnectionError if the venue's time cannot be asked for.
   */
  private async isOver({ validUntil }: Pick<SentRequest, "validUntil">): Promise<boolean> {
    const { clock } = this;
    const hasPassed = () => (clock.reached ?? 0) > validUntil;
    if (!hasPassed() && (clock.now() ?? 0) > validUntil) await this.askTime();
    return hasPassed();
  }

  /** @throws StillPendingError if an earlier request about the same thing has no answer yet. */
  private async guarded<T>(subject: string, send: () => Promise<T>): Promise<T> {
    const isOpen = this.list.get().some((each) => each.subject === subject);
    if (isOpen || this.inFlight.has(subject)) {
      throw new StillPendingError(`${subject} has no answer yet`);
    }
    this.inFlight.add(subject);
    try {
      return await send();
    } finally {
      this.inFlight.delete(subject);
    }
  }

  /** `owner` was the current session when it was sent; that one may have ended since. */
  private keep(owner: Session | undefined, unsettled: Unsettled): void {
    if (owner === this.current) {
      this.list.update((known) => [...known, unsettled]);
      return;
    }
    this.left = [...this.left, unsettled];
    if (this.current !== undefined) this.resume(this.current);
  }

  private drop({ key, address, nonce }: Left): void {
    if (nonce !== undefined) this.sent.remove({ address, nonce });
    const isOther = (each: Left) => each.key !== key || each.address !== address;
    this.list.update((known) => known.filter(isOther));
    this.left = this.left.filter(isOther);
  }
}

export function isUnknown(error: unknown): error is ConnectionError | PerpgateError {
  if (!(error instanceof ConnectionError || error instanceof PerpgateError)) return false;
  return error.outcome === "unknown";
}

/** Statuses that say nothing about the request itself: the session has ended, or it was not read. */
const NO_REFUSALS: readonly number[] = [401, 408, 429];

/** Whether a gateway has refused it, although its outcome is unknown: an earlier try went to another one. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof PerpgateError) || !isUnknown(error)) return false;
  const { status } = error;
  return status >= 400 && status < 500 && !NO_REFUSALS.includes(status);
}
