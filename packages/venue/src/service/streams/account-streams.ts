/**
 * The private streams of the edges. An edge follows streams of accounts while it has sockets that read
 * them; what a command changed for an account goes to each of these edges once.
 *
 *   1. `onCommand`, inside the apply callback, keeps what followed accounts are sent in `pending`
 *   2. `flush`, in the next turn, after the acknowledgements of the orders, encodes and sends the updates
 *
 * No update may be left out. If one cannot be read, the edges that would miss it get a notice and close the
 * sockets before any later update: they resume from the last seq that they have.
 */

import type { CoreLink, NoticeHandlers, PrivateUpdate, RequestHandlers } from "@perpgate/link";
import type { PrivateStreamName } from "@perpgate/protocol";
import type { RowWords } from "../../history/rows.js";
import type { Applied } from "../../replica.js";
import type { Venue } from "../../venue.js";
import { changedDeposit, tellsOfAck, tellsOfFills } from "../../views/change-view.js";
import { knownSession } from "../account-calls.js";
import type { EdgeFollower } from "./followers.js";
import { type CommandChange, isOfStream, updateOf } from "./private-updates.js";
import { Resumptions } from "./resumptions.js";

/** Of one command: updates that many accounts get, as those of a deposit with a thousand senders. */
interface Shared {
  readonly update: PrivateUpdate;
  readonly accounts: Map<EdgeFollower, number[]>;
}

type Followed = ReadonlyMap<EdgeFollower, ReadonlySet<PrivateStreamName>>;

export class AccountStreams {
  private readonly followed = new Map<number, Map<EdgeFollower, Set<PrivateStreamName>>>();
  /** Changes applied and not yet sent, in log order. */
  private pending: CommandChange[] = [];
  private turn: NodeJS.Immediate | undefined;
  private readonly resumptions: Resumptions;

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.resumptions = new Resumptions(venue);
    venue.history.tell((account) => this.followed.has(account));
  }

  requestsOf(link: () => CoreLink): Pick<RequestHandlers, "readStream"> {
    return {
      readStream: ({ session, stream, since }, notes) => {
        const { account } = knownSession(this.venue, session);
        // Before it is read: what is applied afterwards follows the answer.
        this.follow(link(), account, stream);
        return this.resumptions.read(link(), { stream, account, since, notes });
      },
    };
  }

  noticesOf(link: () => CoreLink): Pick<NoticeHandlers, "unfollowAccount"> {
    return { unfollowAccount: ({ account, stream }) => this.unfollow(link(), account, stream) };
  }

  /** The edge is gone. */
  leave(follower: EdgeFollower): void {
    this.resumptions.leave(follower);
    for (const [account, edges] of this.followed) {
      if (edges.delete(follower) && edges.size === 0) this.followed.delete(account);
    }
  }

  /** Runs inside the apply callback; must not throw. */
  onCommand(applied: Applied): void {
    if (this.followed.size === 0) return;
    try {
      this.collect(applied);
    } catch (error) {
      // The account is unknown, so every reader may miss an update.
      this.onFault(error);
      this.break([...this.followed.keys()], applied.seq);
    }
  }

  stop(): void {
    clearImmediate(this.turn);
    this.pending = [];
    this.resumptions.stop();
  }

  private follow(follower: EdgeFollower, account: number, stream: PrivateStreamName): void {
    let edges = this.followed.get(account);
    if (edges === undefined) {
      edges = new Map();
      this.followed.set(account, edges);
    }
    const streams = edges.get(follower);
    if (streams === undefined) edges.set(follower, new Set([stream]));
    else streams.add(stream);
  }

  private unfollow(follower: EdgeFollower, account: number, stream: PrivateStreamName): void {
    const edges = this.followed.get(account);
    const streams = edges?.get(follower);
    if (edges === undefined || streams === undefined) return;
    streams.delete(stream);
    if (streams.size === 0) edges.delete(follower);
    if (edges.size === 0) this.followed.delete(account);
  }

  private collect(applied: Applied): void {
    const { views } = this.venue;
    const { seq } = applied;
    const byAccount = new Map<number, RowWords[]>();
    for (const { account, row } of views.lastChanges) {
      if (!this.followed.has(account)) continue;
      const rows = byAccount.get(account);
      if (rows === undefined) byAccount.set(account, [row]);
      else rows.push(row);
    }
    if (byAccount.size === 0) return;
    for (const [account, rows] of byAccount) {
      const fills = rows.some(tellsOfFills) ? views.lastFills(account) : [];
      const ack = rows.some(tellsOfAck) ? views.acknowledgementIn(applied) : undefined;
      const change = { account, seq, rows, fills: () => fills, ack: () => ack };
      this.pending.push(change);
      this.resumptions.onChange(change);
    }
    this.turn ??= setImmediate(() => this.flush());
  }

  private flush(): void {
    this.turn = undefined;
    const { pending } = this;
    this.pending = [];
    let shared = new Map<string, Shared>();
    for (const [i, change] of pending.entries()) {
      const followed = this.followed.get(change.account);
      if (followed !== undefined) {
        try {
          this.send(change, followed, shared);
        } catch (error) {
          this.onFault(error);
          this.break([change.account], change.seq);
        }
      }
      if (pending[i + 1]?.seq === change.seq) continue;
      for (const { update, accounts } of shared.values()) sendShared(update, accounts);
      shared = new Map();
    }
  }

  /** All updates are read before the first is sent: a command goes to every stream or to none. */
  private send(change: CommandChange, followed: Followed, shared: Map<string, Shared>): void {
    const { account, rows } = change;
    const updates = new Map<PrivateStreamName, PrivateUpdate>();
    let deposits: Shared | undefined;
    for (const stream of new Set([...followed.values()].flatMap((streams) => [...streams]))) {
      const own = rows.filter((row) => isOfStream(row, stream));
      if (own.length === 0) continue;
      if (stream === "deposits") deposits = this.depositsOf({ ...change, rows: own }, shared);
      else updates.set(stream, updateOf(this.venue, stream, { ...change, rows: own }).update);
    }
    for (const [follower, streams] of followed) {
      const own = [...streams].flatMap((stream) => updates.get(stream) ?? []);
      if (own.length > 0) follower.notify("privateUpdate", { accounts: [account], updates: own });
      if (deposits === undefined || !streams.has("deposits")) continue;
      const accounts = deposits.accounts.get(follower);
      if (accounts === undefined) deposits.accounts.set(follower, [account]);
      else accounts.push(account);
    }
  }

  /** Read once for all accounts that a transaction credits. */
  private depositsOf(change: CommandChange, shared: Map<string, Shared>): Shared {
    const key = change.rows.map(changedDeposit).join();
    const known = shared.get(key);
    if (known !== undefined) return known;
    const { update } = updateOf(this.venue, "deposits", change);
    const made = { update, accounts: new Map<EdgeFollower, number[]>() };
    shared.set(key, made);
    return made;
  }

  /** Readers of the accounts miss what the command changed. */
  private break(accounts: readonly number[], seq: number): void {
    for (const account of accounts) {
      for (const follower of this.followed.get(account)?.keys() ?? []) {
        follower.notify("privateBroken", { account, seq });
      }
    }
  }
}

function sendShared(update: PrivateUpdate, accounts: Shared["accounts"]): void {
  for (const [follower, own] of accounts) {
    follower.notify("privateUpdate", { accounts: own, updates: [update] });
  }
}
