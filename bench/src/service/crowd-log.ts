/**
 * Appends a crowd to the log of a venue that has ended, as the venue would have written it: accounts, each
 * with a stop, walls of the smallest orders, and accounts with many stops; then the snapshot after them.
 */
import { randomBytes } from "node:crypto";
import { type Command, LIMIT_ORDER, LONG, SHORT, STOP_ORDER } from "@perpgate/engine";
import { addressOf, joining, openSession, plainOrder } from "@perpgate/engine/testing";
import {
  FileSnapshots,
  type Journal,
  LOG_START,
  type LogSeq,
  nodeDisk,
  openJournal,
  SegmentReader,
} from "@perpgate/journal";
import { type Evidence, encodeRecord, NO_EVIDENCE, Replica } from "@perpgate/venue";
import {
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "@perpgate/venue/testing";

const DOLLAR = 1_000_000;
/** Of a dollar, and in a day. */
const TICKS = 10;
const DAY_MS = 86_400_000;
/** Open orders that an account may have. */
const ORDERS_EACH = 500;
const KEY = "00".repeat(32);
const WRITER = "c".repeat(32);
const BATCH_RECORDS = 256;
const CONCURRENT_BATCHES = 64;
/** Records between two ticks, so that blocks end. */
const RECORDS_PER_TICK = 20_000;
/** A body and a signature of the usual length; nothing here verifies them. */
const SIGNED: Evidence = {
  signed: randomBytes(150),
  signature: randomBytes(64),
  publicKey: new Uint8Array(0),
};

interface CrowdSize {
  /** Accounts, each with one stop that opens. */
  readonly accounts: number;
  /** Accounts among them that hold a position worth `closing` dollars, which their stop closes. */
  readonly holders: number;
  readonly closing: number;
  /** Accounts that have bids of the least size at `wallPrice`, 500 each. */
  readonly walls: number;
  readonly wallPrice: number;
  /** Where the stops are, in dollars. */
  readonly stopsFrom: number;
  readonly stopsTo: number;
  readonly index: number;
}

/** A session that was opened by the venue, and how many stops that nothing reaches it gets. */
interface Idle {
  readonly session: number;
  readonly stops: number;
}

export async function appendCrowd(
  directory: string,
  size: CrowdSize,
  idle: readonly Idle[],
): Promise<void> {
  const state = newReplicaState();
  const journal = await openJournal({ directory });
  const from = replay(directory, LOG_START, journal.end.batch, state);
  const { seq, state: before } = state.engine;
  const log = new Log(journal, seq, before.lastTickMs / 200, size.index * TICKS);
  await log.write(commandsOf(log, size, idle, state));
  const { end } = journal;
  await journal.close();
  replay(directory, from, end.batch, state);
  const { open } = state.engine.state.orders;
  const expected = size.accounts + (ORDERS_EACH - 1) * size.walls;
  if (open < expected) throw new Error(`only ${open} of ${expected} orders are open`);
  const opened = await openJournal({ directory, verify: "tail" });
  const files = new FileSnapshots(nodeDisk, directory, opened.recovery.logId);
  await opened.close();
  files.write(end, encodeReplicaState(state, state.engine.snapshot()));
}

function replay(directory: string, from: LogSeq, until: number, state: ReplicaState): LogSeq {
  const onCommand = (applied: Parameters<typeof observe>[1]) => void observe(state, applied);
  const replica = new Replica(state.engine, [{ onCommand }]);
  const reader = new SegmentReader(nodeDisk, directory, from);
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  const { seq } = reader;
  reader.close();
  return seq;
}

class Log {
  private counter = 0;
  private pending: Promise<void>[] = [];

  constructor(
    private readonly journal: Journal,
    /** Of the last command that was taken. */
    public position: number,
    private slot: number,
    /** Stays fresh. */
    private readonly indexTicks: number,
  ) {}

  /** Takes a command once the position of the one before it is known. */
  async write(commands: Iterable<Command>): Promise<void> {
    await this.append([joining(WRITER, "venue", this.slot * 200)]);
    this.position++;
    let batch: Command[] = [];
    let sinceTick = 0;
    for (const command of commands) {
      batch.push(command);
      this.position++;
      if (batch.length < BATCH_RECORDS) continue;
      await this.append(batch);
      sinceTick += batch.length;
      batch = [];
      if (sinceTick < RECORDS_PER_TICK) continue;
      sinceTick = 0;
      this.slot++;
      this.position += 2;
      const { slot, indexTicks } = this;
      const stampMs = (slot - 1) * 200;
      await this.append([
        { kind: "UpdateIndex", stampMs, market: 0, indexTicks, slot },
        { kind: "Tick", slot },
      ]);
    }
    if (batch.length > 0) await this.append(batch);
    await Promise.all(this.pending);
  }

  private async append(batch: readonly Command[]): Promise<void> {
    const records = batch.map((one) => encodeRecord(one, evidenceOf(one)));
    this.pending.push(this.journal.append({ writer: WRITER, counter: this.counter++ }, records));
    if (this.pending.length < CONCURRENT_BATCHES) return;
    await Promise.all(this.pending);
    this.pending = [];
  }
}

function evidenceOf({ kind }: Command): Evidence {
  return kind === "PlaceOrder" ? SIGNED : NO_EVIDENCE;
}

function* commandsOf(
  log: Log,
  size: CrowdSize,
  idle: readonly Idle[],
  { engine }: ReplicaState,
): Generator<Command> {
  const stampMs = engine.state.timeMs;
  const terms = { stampMs, key: KEY, leverage: 1, marginMicros: size.closing * DOLLAR };
  const priceTicks = size.index * TICKS;
  for (const { session, stops } of idle) {
    const key = engine.state.sessions.find(session)?.key ?? "";
    const far = { type: STOP_ORDER, side: SHORT, priceTicks: priceTicks / 2, key } as const;
    for (let i = 0; i < stops; i++) yield plainOrder({ ...terms, ...far, session, nonce: 1 + i });
  }
  const sessions: number[] = [];
  for (let i = 0; i < size.accounts; i++) {
    sessions.push(log.position + 1);
    const tokenHash = (i + 1).toString(16).padStart(64, "0");
    const siweNonceUntilMs = stampMs + DAY_MS;
    yield openSession({
      stampMs,
      address: addressOf(i + 1),
      key: KEY,
      tokenHash,
      siweNonceUntilMs,
    });
  }
  for (let i = 0; i < size.holders; i++) {
    const [long, short] = [sessions[2 * i]!, sessions[2 * i + 1]!];
    const limit = { ...terms, nonce: 1, type: LIMIT_ORDER, priceTicks } as const;
    yield plainOrder({ ...limit, session: short, side: SHORT });
    yield plainOrder({ ...limit, session: long, side: LONG });
  }
  const range = (size.stopsFrom - size.stopsTo) * TICKS;
  for (const [i, session] of sessions.entries()) {
    const isHolder = i < 2 * size.holders && i % 2 === 0;
    yield plainOrder({
      ...{ ...terms, session, nonce: 2, type: STOP_ORDER, side: SHORT },
      priceTicks: size.stopsFrom * TICKS - Math.floor((i * 7_919) % range),
      reduceOnly: isHolder,
      marginMicros: (isHolder ? size.closing : 10) * DOLLAR,
    });
  }
  const wallTicks = size.wallPrice * TICKS;
  const least = { ...terms, side: LONG, type: LIMIT_ORDER, priceTicks: wallTicks } as const;
  for (let i = 0; i < size.walls; i++) {
    const session = sessions[2 * size.holders + i]!;
    for (let n = 0; n < ORDERS_EACH - 1; n++) {
      const nonce = 10 + n;
      yield plainOrder({ ...least, session, nonce, leverage: 10, marginMicros: DOLLAR / 5 });
    }
  }
}
