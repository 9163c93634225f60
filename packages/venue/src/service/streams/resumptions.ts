/**
 * Reads for private streams that begin or resume: their state, or a page of changes from the history.
 *
 * All edges share about `ROWS_PER_TURN` rows of a turn of the event loop; within it each edge in turn has
 * one of its reads done. So a thousand that reconnect delay each other and no order.
 *
 * A read waits until the history has made the rows of everything that was applied when it came. What is applied
 * after that is collected for it: the last page ends with it, at the present. A page is read and answered in one
 * turn, and what is applied afterwards is sent as a notice, after the answer.
 */

import type { AnswerBodies, NotesInMaking, PrivateUpdate } from "@perpgate/link";
import type { PrivateStreamName } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { RowWords } from "../../history/rows.js";
import { missingIn, type PastRead, type RowsMissing } from "../../history/store-read.js";
import type { Venue } from "../../venue.js";
import type { EdgeFollower } from "./followers.js";
import {
  type CommandChange,
  isOfStream,
  pastChange,
  privateState,
  updateOf,
} from "./private-updates.js";

const PAGE_ROWS = 64;
const ROWS_PER_TURN = 256;
/** Rows read besides a page, such as fills, after which the rest of the page is another one. */
const MORE_ROWS_PER_PAGE = 256;
/** A state is read from indexes: in rows of the history, what reading none of its items costs. */
const STATE_ROWS = 16;

type Answer = AnswerBodies["readStream"];

interface Reading {
  readonly stream: PrivateStreamName;
  readonly account: number;
  /** Undefined: from the present state on. */
  readonly since: number | undefined;
  readonly notes: NotesInMaking;
}

interface Waiting extends Reading {
  pageRows: number;
  readonly past: PastRead;
  /** What was applied since it came, oldest first. */
  readonly tail: CommandChange[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** An answer and the rows that it has read. */
interface Made {
  /** Undefined: one command fills the page, which has to be longer. */
  readonly answer: Answer | undefined;
  readonly rows: number;
}

export class Resumptions {
  /** Reads that wait for their turn, by edge. */
  private readonly queues = new Map<EdgeFollower, Waiting[]>();
  /** Reads whose rows are being fetched; then they wait for another turn. */
  private readonly fetching = new Map<Waiting, EdgeFollower>();
  private turn: NodeJS.Immediate | undefined;
  /** The tails of the reads that are not answered, by account. */
  private readonly tails = new Map<number, Set<CommandChange[]>>();

  constructor(private readonly venue: Venue) {}

  async read(follower: EdgeFollower, reading: Reading): Promise<Answer> {
    const tail: CommandChange[] = [];
    const past = this.venue.history.beginRead();
    const tails = this.tails.get(reading.account) ?? new Set();
    tails.add(tail);
    this.tails.set(reading.account, tails);
    try {
      const { seq, history } = this.venue;
      // Beyond the present there is only what is collected.
      const needsRows = reading.since !== undefined && reading.since < seq;
      const reached = needsRows ? history.reached() : undefined;
      if (reached !== undefined) await reached;
      return await new Promise((resolve, reject) => {
        this.enqueue(follower, { ...reading, tail, pageRows: PAGE_ROWS, past, resolve, reject });
      });
    } finally {
      past.end();
      tails.delete(tail);
      if (tails.size === 0) this.tails.delete(reading.account);
    }
  }

  /** Of an account that an edge follows. */
  onChange(change: CommandChange): void {
    for (const tail of this.tails.get(change.account) ?? []) tail.push(change);
  }

  /** The edge is gone: nothing is read for it any more. */
  leave(follower: EdgeFollower): void {
    this.refuse(this.queues.get(follower) ?? []);
    this.queues.delete(follower);
    for (const [waiting, each] of this.fetching) {
      if (each !== follower) continue;
      this.fetching.delete(waiting);
      this.refuse([waiting]);
    }
  }

  stop(): void {
    clearImmediate(this.turn);
    for (const queue of this.queues.values()) this.refuse(queue);
    this.queues.clear();
    this.refuse([...this.fetching.keys()]);
    this.fetching.clear();
  }

  private refuse(queue: readonly Waiting[]): void {
    for (const { reject } of queue) reject(new ApiError("stopped", {}));
  }

  private enqueue(follower: EdgeFollower, waiting: Waiting): void {
    const queue = this.queues.get(follower);
    if (queue === undefined) this.queues.set(follower, [waiting]);
    else queue.push(waiting);
    this.turn ??= setImmediate(() => this.runTurn());
  }

  private runTurn(): void {
    let left = ROWS_PER_TURN;
    // An edge that is put to the end is visited again while rows are left.
    for (const [follower, queue] of this.queues) {
      if (left <= 0) break;
      this.queues.delete(follower);
      const waiting = queue.shift();
      if (queue.length > 0) this.queues.set(follower, queue);
      if (waiting !== undefined) left -= this.answer(follower, waiting);
    }
    this.turn = this.queues.size === 0 ? undefined : setImmediate(() => this.runTurn());
  }

  /** Returns the rows that it has read. */
  private answer(follower: EdgeFollower, waiting: Waiting): number {
    const base = 1 + (waiting.since === undefined ? STATE_ROWS : 0);
    try {
      const ran = waiting.past.run(() => this.answerTo(waiting));
      if (!ran.isDone) {
        this.fetching.set(waiting, follower);
        const again = () => this.fetching.delete(waiting) && this.enqueue(follower, waiting);
        const refuse = (error: unknown) => this.fetching.delete(waiting) && waiting.reject(error);
        void ran.fetched.then(again, refuse);
        return base;
      }
      const { answer, rows } = ran.value;
      waiting.notes.rows += rows;
      if (answer === undefined) {
        waiting.pageRows *= 2;
        this.enqueue(follower, waiting);
      } else waiting.resolve(answer);
      return base + rows;
    } catch (error) {
      waiting.reject(error);
      return base;
    }
  }

  private answerTo(waiting: Waiting): Made {
    const { seq, views, isStopped } = this.venue;
    // Its history is closed.
    if (isStopped) throw new ApiError("stopped", {});
    const { since } = waiting;
    if (since === undefined) return this.state(waiting, false);
    // Before the outbox begins, or beyond the end: of another log, or of one that lost its end.
    if (since > seq || since + 1 < views.changesFrom) return this.state(waiting, true);
    return this.page(waiting, since);
  }

  private state({ stream, account }: Waiting, isGap: boolean): Made {
    const state = privateState(this.venue, stream, account);
    const updates = state === undefined ? [] : [state.update];
    const answer = { updates, seq: this.venue.seq, isLast: true, isGap };
    return { answer, rows: state?.rows ?? 0 };
  }

  private page(waiting: Waiting, since: number): Made {
    const { venue } = this;
    const { made } = venue.history;
    const { stream, account, pageRows, tail } = waiting;
    const page = venue.views.changesSince(account, since, pageRows);
    const isLast = page.length < pageRows;
    const end = isLast ? venue.seq : lastCompleteSeq(page);
    // One for the search of the page.
    let rows = page.length + 1;
    if (end === undefined) return { answer: undefined, rows };
    const own = page.filter(({ seq, row }) => seq <= end && isOfStream(row, stream));
    const updates: PrivateUpdate[] = [];
    let more = 0;
    // It goes on without what is not fetched yet, so that all of it is fetched together.
    let missing: RowsMissing | undefined;
    for (let from = 0; from < own.length; ) {
      const { seq } = own[from]!;
      if (more >= MORE_ROWS_PER_PAGE) {
        if (missing !== undefined) throw missing;
        const answer = { updates, seq: seq - 1, isLast: false, isGap: false };
        return { answer, rows: rows + more };
      }
      let to = from;
      while (to < own.length && own[to]!.seq === seq) to++;
      const changed = own.slice(from, to).map(({ row }) => row);
      from = to;
      try {
        const read = updateOf(venue, stream, pastChange(venue, account, seq, changed));
        updates.push(read.update);
        more += read.rows;
      } catch (error) {
        missing = missingIn(error);
      }
    }
    if (missing !== undefined) throw missing;
    rows += more;
    for (const change of isLast ? tail : []) {
      if (change.seq <= made || change.seq <= since) continue;
      const changed = change.rows.filter((row) => isOfStream(row, stream));
      if (changed.length === 0) continue;
      const read = updateOf(venue, stream, { ...change, rows: changed });
      updates.push(read.update);
      rows += change.rows.length + read.rows;
    }
    return { answer: { updates, seq: end, isLast, isGap: false }, rows };
  }
}

interface PageRow {
  readonly seq: number;
  readonly row: RowWords;
}

/** The last seq of a full page whose rows are certain to be complete. */
function lastCompleteSeq(page: readonly PageRow[]): number | undefined {
  const cut = page.at(-1)?.seq;
  return page.findLast(({ seq }) => seq !== cut)?.seq;
}
