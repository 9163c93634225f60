/**
 * Signed requests that were sent and have no final answer, kept for a reload of the page in
 * `sessionStorage`, which belongs to the tab. Noted before the first byte leaves: a page that is left
 * takes its requests in flight with it. It holds no secret and no signature.
 */

const PLACE = "perpgate.sent";
/** Of other accounts, which this page may never meet again, too. */
const MOST_KEPT = 100;

/** What the account's next page needs to find the outcome. */
export interface SentRequest {
  /** The account that sent it. */
  readonly address: string;
  readonly nonce: number;
  /** Not executed after this time of the venue. */
  readonly validUntil: number;
  /** How many orders it places; undefined for what the orders with its nonce do not show. */
  readonly places?: number | undefined;
  /** Whether it withdraws: it is among the account's withdrawals, with its nonce, once it was executed. */
  readonly withdraws?: boolean | undefined;
  readonly subject: string;
  readonly title: string;
}

export class SentRequests {
  private sent: readonly SentRequest[] = readSent();

  get all(): readonly SentRequest[] {
    return this.sent;
  }

  add(request: SentRequest): void {
    this.write([...this.sent, request].slice(-MOST_KEPT));
  }

  remove({ address, nonce }: Pick<SentRequest, "address" | "nonce">): void {
    this.write(this.sent.filter((each) => each.nonce !== nonce || each.address !== address));
  }

  private write(sent: readonly SentRequest[]): void {
    this.sent = sent;
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(sent));
    } catch {
      // The browser may forbid storage; then a reload forgets them.
    }
  }
}

function readSent(): readonly SentRequest[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isSentRequest) : [];
  } catch {
    // As above, or not written by this page.
    return [];
  }
}

function isSentRequest(value: unknown): value is SentRequest {
  if (typeof value !== "object" || value === null) return false;
  const { address, nonce, validUntil, places, withdraws, subject, title } =
    value as Partial<SentRequest>;
  return (
    typeof (withdraws ?? false) === "boolean" &&
    [address, subject, title].every((each) => typeof each === "string") &&
    [nonce, validUntil, places ?? 0].every((each) => Number.isSafeInteger(each))
  );
}
