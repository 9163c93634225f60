/**
 * The private streams: `preconfirms`, `orders`, `positions`, `deposits`.
 *
 * A reader is a cursor into its account's changes, which the history holds by log position. One that
 * resumes reads them page by page, as fast as it takes them; when it has reached the present it is
 * live, in the same turn, so nothing lies between and nothing comes twice. From then on each command
 * that touches its account is told once per stream, encoded once for all sockets of the account.
 * What is told live is noted during the command and sent in the next turn, after the answers to the
 * orders themselves.
 *
 * No frame may be left out. So where one cannot be made, the sockets that miss it are closed at once,
 * before any later frame could hide the gap, and resume from what they have seen.
 */

import type { PrivateStream } from "@perpgate/protocol";
import type { Venue } from "@perpgate/venue";
import { CLOSE } from "../close-codes.js";
import type { Connection } from "../connection.js";
import type { WireFrame } from "../wire-frame.js";
import { backfill } from "./backfill.js";
import { gapFrame, stateFrame, streamOfRow, updateFrame } from "./private-frames.js";

export interface AccountReader {
  readonly connection: Connection;
  readonly stream: PrivateStream;
  readonly account: number;
  /** Position up to which it was told everything. */
  seq: number;
  isEnded: boolean;
}

interface Noted {
  readonly account: number;
  readonly position: number;
  readonly rows: readonly Float64Array[];
}

export class AccountFeed {
  /** Live readers by account. */
  private readonly live = new Map<number, Set<AccountReader>>();
  private noted: Noted[] = [];
  private turn: NodeJS.Immediate | undefined;

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** How many streams are live. */
  get readerCount(): number {
    let count = 0;
    for (const readers of this.live.values()) count += readers.size;
    return count;
  }

  /** Begins to send; answers how to stop. */
  open(
    connection: Connection,
    stream: PrivateStream,
    account: number,
    since: number | undefined,
  ): () => void {
    const { views, position } = this.venue;
    const reader: AccountReader = { connection, stream, account, seq: position, isEnded: false };
    if (since !== undefined && since <= position) {
      reader.seq = since;
      this.resume(reader);
    } else {
      // A position of the future is of another log, or of one that lost its end.
      if (since !== undefined) connection.send(gapFrame(stream, since, position));
      const state = stateFrame(views, stream, account, position);
      if (state !== undefined) connection.send(state);
      this.goLive(reader);
    }
    return () => this.end(reader);
  }

  /** During a command: notes what it changed for accounts that someone reads. Throws nothing. */
  onCommand(position: number): void {
    if (this.live.size === 0) return;
    try {
      this.note(position);
    } catch (error) {
      // Whose account it was is not known.
      this.fail(
        [...this.live.values()].flatMap((readers) => [...readers]),
        error,
      );
    }
  }

  stop(): void {
    clearImmediate(this.turn);
    this.noted = [];
  }

  private note(position: number): void {
    const byAccount = new Map<number, Float64Array[]>();
    for (const { account, row } of this.venue.views.lastChanges) {
      if (!this.live.has(account)) continue;
      const rows = byAccount.get(account);
      if (rows === undefined) byAccount.set(account, [row]);
      else rows.push(row);
    }
    if (byAccount.size === 0) return;
    for (const [account, rows] of byAccount) this.noted.push({ account, position, rows });
    this.turn ??= setImmediate(() => this.tell());
  }

  private tell(): void {
    this.turn = undefined;
    const noted = this.noted;
    this.noted = [];
    for (const entry of noted) {
      const readers = this.live.get(entry.account);
      if (readers === undefined) continue;
      try {
        this.tellAccount(entry, readers);
      } catch (error) {
        this.fail(
          [...readers].filter(({ seq }) => seq < entry.position),
          error,
        );
      }
    }
  }

  private tellAccount(entry: Noted, readers: ReadonlySet<AccountReader>): void {
    // All of them before the first is sent: a command is told on every stream or on none.
    const frames = this.framesFor(entry, readers);
    for (const reader of readers) {
      // It went live with this position already behind it.
      if (reader.seq >= entry.position) continue;
      reader.seq = entry.position;
      const frame = frames.get(reader.stream);
      if (frame === undefined) continue;
      // A command is told on several streams, and a batch of the log holds many.
      reader.connection.hold();
      reader.connection.send(frame);
    }
  }

  /** One frame for each stream that is read and that the command has touched. */
  private framesFor(
    { position, rows }: Noted,
    readers: ReadonlySet<AccountReader>,
  ): ReadonlyMap<PrivateStream, WireFrame> {
    const frames = new Map<PrivateStream, WireFrame>();
    const streams = new Set<PrivateStream>();
    for (const { stream, seq } of readers) if (seq < position) streams.add(stream);
    for (const stream of streams) {
      const own = rows.filter((row) => streamOfRow(row) === stream);
      if (own.length > 0) frames.set(stream, updateFrame(this.venue.views, stream, position, own));
    }
    return frames;
  }

  private resume(reader: AccountReader): void {
    backfill(this.venue, reader, () => this.goLive(reader)).catch((error: unknown) => {
      this.fail([reader], error);
    });
  }

  /** These readers would miss a frame: they start again from the last one they have. */
  private fail(readers: readonly AccountReader[], error: unknown): void {
    this.onFault(error);
    for (const reader of readers) {
      this.end(reader);
      reader.connection.close(CLOSE.internalError);
    }
  }

  private goLive(reader: AccountReader): void {
    if (reader.isEnded) return;
    const readers = this.live.get(reader.account);
    if (readers === undefined) this.live.set(reader.account, new Set([reader]));
    else readers.add(reader);
  }

  private end(reader: AccountReader): void {
    reader.isEnded = true;
    const readers = this.live.get(reader.account);
    if (readers?.delete(reader) === true && readers.size === 0) this.live.delete(reader.account);
  }
}
