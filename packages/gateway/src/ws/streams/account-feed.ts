/**
 * The private streams: `preconfirms`, `orders`, `positions`, `fills`, `account`, `deposits`.
 *
 * A reader is a cursor, `AccountReader.seq`, into its account's changes. It begins with a request to the
 * core, for the present state or for the changes after a seq, page by page, and goes live in the turn in
 * which it has sent the page that ends at the present: what the core sends after that page are the
 * changes that follow it. From then on each update goes to the readers with a lower seq, so nothing is
 * missed or repeated.
 *
 * No frame may be left out. If one cannot be encoded, or the core cannot read it, the sockets that would
 * miss it are closed before any later frame is sent, and resume from the last seq they have.
 */

import type { AnswerBodies, CoreAccess, NoticeBodies, PrivateUpdate } from "@perpgate/link";
import type { PrivateStreamName } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import { AddressChecksums, withChecksums } from "../../operations/address-checksums.js";
import { CLOSE, type CloseReason } from "../close-codes.js";
import type { ClientSocket, ConnectionSession } from "../connection.js";
import { streamFrame, type WireFrame, wireFrame } from "../wire-frame.js";
import { type PrivateStreamReader, StreamReads } from "./stream-reads.js";

/**
 * The frames of the private streams: one per stream and log seq, with the same bytes whether it is sent
 * live or to a client that resumes.
 */
function privateFrame(update: PrivateUpdate, checksums: AddressChecksums): WireFrame {
  const { name: t, value } = update;
  if (t !== "deposits") return wireFrame({ t, d: value });
  const deposits = value.deposits.map((one) => withChecksums(one, checksums));
  return streamFrame(t, { ...value, deposits });
}

/** Tells the client that changes between `since` and `seq` cannot be sent. */
function gapFrame(stream: PrivateStreamName, since: number, seq: number): WireFrame {
  return streamFrame(stream, { type: "gap", since, seq });
}

/** What a reader begins with. */
export interface Beginning {
  /** The last seq that the client has; undefined: it begins now. */
  readonly since: number | undefined;
  /** The seq that the `ok` of the subscription has. */
  readonly from: number;
}

/** A stream of which there is no present state, only changes. */
const STATELESS: ReadonlySet<PrivateStreamName> = new Set(["preconfirms", "fills"]);

type Answer = AnswerBodies["readStream"];

export class PrivateStreamFeed {
  /** Live readers by account. */
  private readonly live = new Map<number, Set<PrivateStreamReader>>();
  /** Readers of each stream of an account, also those that are not live. */
  private readonly counts = new Map<string, number>();
  private readonly checksums = new AddressChecksums();
  private readonly reads: StreamReads;

  constructor(
    private readonly link: CoreAccess,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.reads = new StreamReads(link, {
      take: (reader, answer) => this.take(reader, answer),
      fail: (reader, error) => this.refuse(reader, error),
    });
    link.on({
      privateUpdate: (update) => this.onUpdate(update),
      privateBroken: ({ account, seq }) => this.close(this.behind(account, seq)),
    });
  }

  /** Live streams; those that still resume are not counted. */
  get readerCount(): number {
    let count = 0;
    for (const readers of this.live.values()) count += readers.size;
    return count;
  }

  /** Starts sending; returns a function that stops it. */
  open(
    connection: ClientSocket,
    stream: PrivateStreamName,
    { number: session, account }: Pick<ConnectionSession, "number" | "account">,
    { since, from }: Beginning,
  ): () => void {
    const seq = since ?? (STATELESS.has(stream) ? from : undefined);
    const isResumed = since !== undefined;
    const reader = { connection, stream, session, account, seq, isResumed, isEnded: false };
    const key = keyOf(reader);
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.reads.begin(reader);
    return () => this.end(reader);
  }

  stop(): void {
    this.reads.stop();
  }

  /** Sends what the core has read for the reader; returns whether it needs another page. */
  private take(reader: PrivateStreamReader, answer: Answer): boolean {
    const { connection, stream } = reader;
    if (answer.isGap) {
      connection.counts.gaps++;
      connection.send(gapFrame(stream, reader.seq ?? 0, answer.seq));
    }
    for (const [i, update] of answer.updates.entries()) {
      // A page that is paid for is sent as far as there is room, and at least one frame of it.
      if (i > 0 && !connection.hasBufferRoom) return true;
      connection.send(privateFrame(update, this.checksums));
      reader.seq = update.value.seq;
      // It was too slow for the frame.
      if (reader.isEnded) return false;
    }
    reader.seq = answer.seq;
    if (!answer.isLast) return true;
    this.goLive(reader);
    return false;
  }

  private onUpdate({ accounts, updates }: NoticeBodies["privateUpdate"]): void {
    const [first] = updates;
    if (first === undefined) return;
    const { seq } = first.value;
    const frames = new Map<PrivateStreamName, WireFrame>();
    for (const account of accounts) {
      const readers = this.live.get(account);
      if (readers === undefined) continue;
      try {
        this.send(readers, updates, seq, frames);
      } catch (error) {
        this.onFault(error);
        this.close(this.behind(account, seq));
      }
    }
  }

  /** All frames are encoded before the first is sent: a command goes to every stream or to none. */
  private send(
    readers: ReadonlySet<PrivateStreamReader>,
    updates: readonly PrivateUpdate[],
    seq: number,
    frames: Map<PrivateStreamName, WireFrame>,
  ): void {
    const streams = new Set(Array.from(readers, ({ stream }) => stream));
    for (const update of updates) {
      if (!streams.has(update.name) || frames.has(update.name)) continue;
      frames.set(update.name, privateFrame(update, this.checksums));
    }
    for (const reader of readers) {
      const frame = frames.get(reader.stream);
      // It went live after this command, which its page or state includes.
      if (frame === undefined || isAt(reader, seq)) continue;
      reader.seq = seq;
      // A command has frames on several streams, and a batch of the log has many commands.
      reader.connection.corkUntilNextTick();
      reader.connection.send(frame);
    }
  }

  /** Live readers of the account that do not have what the command changed. */
  private behind(account: number, seq: number): PrivateStreamReader[] {
    return [...(this.live.get(account) ?? [])].filter((reader) => !isAt(reader, seq));
  }

  /** The readers would miss a frame. */
  private close(
    readers: readonly PrivateStreamReader[],
    reason: CloseReason = CLOSE.internalError,
  ): void {
    for (const reader of readers) {
      this.end(reader);
      reader.connection.close(reason);
    }
  }

  private refuse(reader: PrivateStreamReader, error: unknown): void {
    const code = error instanceof ApiError ? error.code : undefined;
    // The core has reported what failed there.
    if (code === undefined) this.onFault(error);
    if (code === "invalid_token") this.close([reader], CLOSE.sessionEnded);
    else {
      const isWithoutCore = code === "stopped" || code === "lagging";
      this.close([reader], isWithoutCore ? CLOSE.stopping : CLOSE.internalError);
    }
  }

  private goLive(reader: PrivateStreamReader): void {
    if (reader.isEnded) return;
    const readers = this.live.get(reader.account);
    if (readers === undefined) this.live.set(reader.account, new Set([reader]));
    else readers.add(reader);
  }

  private end(reader: PrivateStreamReader): void {
    if (reader.isEnded) return;
    reader.isEnded = true;
    this.reads.end(reader);
    const { account, stream } = reader;
    const readers = this.live.get(account);
    if (readers?.delete(reader) === true && readers.size === 0) this.live.delete(account);
    const key = keyOf(reader);
    const count = (this.counts.get(key) ?? 1) - 1;
    if (count > 0) {
      this.counts.set(key, count);
      return;
    }
    this.counts.delete(key);
    this.link.notify("unfollowAccount", { account, stream });
  }
}

function isAt({ seq }: PrivateStreamReader, other: number): boolean {
  return seq !== undefined && seq >= other;
}

function keyOf({ account, stream }: PrivateStreamReader): string {
  return `${account} ${stream}`;
}
