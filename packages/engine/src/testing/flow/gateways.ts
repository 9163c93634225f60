/**
 * Who writes what happens: one to four gateways, whose batches become the log. They start again, leave,
 * fall silent and have clocks that differ; the log also has what must be dropped: duplicates, gaps,
 * batches of writers that have ended, joins that are none. In some logs a core leads at some point: then
 * each gateway that writes claims to lead first, and what comes of an earlier epoch is dropped.
 */
import type { Random } from "@perpgate/protocol/random";
import { type Command, type CoreLeads, GENESIS_WRITER, type WriterJoined } from "../../commands.js";
import { TICK_MS } from "../../config.js";
import { ENGINE_VERSION } from "../../versions.js";
import { rulesOf, type State } from "../reference/state.js";
import { joining, writerId } from "../sole-writer.js";
import type { LogBatch } from "./log-batch.js";

/** All gateways start again. */
export interface Restart {
  readonly kind: "Restart";
  readonly stampMs: number;
}

/** What a flow makes happen: commands, and restarts of the gateways. */
export type Happening = Command | Restart;

interface Gateway {
  readonly name: string;
  /** Empty: it has not joined yet. */
  id: string;
  counter: number;
  /** It writes nothing before this tick. */
  silentUntilMs: number;
}

/** Ids of writers begin here, so that tests can add their own. */
const FIRST_ID = 2 ** 40;
const KEYS = { receiptKey: "ab".repeat(32), certificate: "cd".repeat(64) };

export class Gateways {
  private readonly gateways: Gateway[];
  private readonly ended: string[] = [];
  /** A few batches of before, to be sent again. */
  private readonly sent: LogBatch[] = [];
  private joined = 0;
  private chosen: Gateway;
  private beganMs = 0;

  constructor(
    private readonly random: Random,
    private readonly state: State,
    count: number,
    private readonly versions: readonly [number, number],
    /** How long after the beginning a core leads. */
    private readonly ledFromMs: number,
  ) {
    this.gateways = Array.from({ length: count }, (_, i) => {
      return { name: `gateway-${i + 1}`, id: "", counter: 0, silentUntilMs: 0 };
    });
    this.chosen = this.gateways[0]!;
  }

  /** Whether those who write from now on lead: once one has, or where it is time for the first. */
  private get isLed(): boolean {
    const { state, ledFromMs, beganMs } = this;
    return state.epoch > 0 || (rulesOf(state).coresLead && state.lastTick >= beganMs + ledFromMs);
  }

  *batches(happenings: Iterable<Happening>): Generator<LogBatch> {
    for (const happening of happenings) {
      if (!this.state.started) yield* this.beginning(happening);
      else if (happening.kind === "Restart") yield* this.restart(happening.stampMs);
      else if (happening.kind === "AskTime") yield* this.asks(happening.stampMs);
      else yield* this.command(happening);
    }
  }

  /** Until the venue has begun: Genesis, and what must not come before it. */
  private *beginning(happening: Happening): Generator<LogBatch> {
    if (happening.kind === "Restart") return;
    const tick: Command = { kind: "Tick", slot: 1 };
    const commands = happening.kind === "Genesis" ? [happening, tick] : [happening];
    yield { writer: this.nextId(), counter: 0, commands };
    yield { writer: GENESIS_WRITER, counter: 1, commands };
    yield { writer: GENESIS_WRITER, counter: 0, commands };
    if (!this.state.started) return;
    this.beganMs = this.state.lastTick;
    for (const gateway of this.gateways) yield this.join(gateway, this.state.time);
  }

  private *command(command: Command): Generator<LogBatch> {
    const { random, state } = this;
    // The operations of a signed batch are at consecutive positions.
    const isSigned = "batch" in command && command.batch !== undefined;
    const isContinued = isSigned && command.batch.index > 0 && this.isLive(this.chosen);
    if (!isContinued && random.chance(0.006)) yield* this.oddity();
    const gateway = isContinued ? this.chosen : yield* this.writerOf(command);
    const commands = [command];
    // Of two ticks the first is applied, whatever comes of it. Scenes of many commands need the time.
    if (command.kind === "Tick" && random.chance(0.1)) {
      commands.push({ kind: "Tick", slot: state.lastTick / TICK_MS + random.int(1, 3) });
    }
    yield this.batch(gateway, commands);
    if (command.kind !== "Tick") return;
    for (const other of this.awake()) if (random.chance(0.3)) yield this.batch(other, []);
  }

  /** A gateway that is awake, mostly the same; one that has ended joins first. */
  private *writerOf(command: Command): Generator<LogBatch, Gateway> {
    const { random } = this;
    if (random.chance(this.isLed ? 0.003 : 0.1)) this.chosen = random.pick(this.gateways);
    let gateway = this.chosen;
    if (command.kind === "SessionDisconnected" && random.chance(0.8)) {
      const isThere = ({ id }: Gateway): boolean => {
        return this.state.writers.some((w) => w.id === id && w.sessions.has(command.session));
      };
      gateway = this.gateways.find(isThere) ?? gateway;
    }
    if (this.isSilent(gateway)) {
      const awake = this.gateways.filter((each) => !this.isSilent(each));
      gateway = random.pick(awake.length > 0 ? awake : this.gateways);
    }
    this.chosen = gateway;
    if (!this.isLive(gateway)) yield this.join(gateway, this.state.time);
    return gateway;
  }

  /** Everybody asks for about the same time, as their clocks go; some do not ask. */
  private *asks(stampMs: number): Generator<LogBatch> {
    const { random } = this;
    for (const gateway of this.gateways) {
      if (random.chance(0.1) || this.isSilent(gateway)) continue;
      if (this.isLed && gateway !== this.chosen) continue;
      if (!this.isLive(gateway)) yield this.join(gateway, stampMs);
      const skew = random.chance(0.5) ? random.int(-3_000, 3_000) : 0;
      yield this.batch(gateway, [{ kind: "AskTime", stampMs: stampMs + skew }]);
      if (!random.chance(0.2)) continue;
      const slot = this.state.lastTick / TICK_MS + 1;
      yield this.batch(gateway, [{ kind: "Tick", slot }]);
    }
  }

  /** All incarnations are replaced, or the first finds nobody there. */
  private *restart(stampMs: number): Generator<LogBatch> {
    const { random } = this;
    if (random.chance(0.5)) {
      for (const gateway of this.gateways) if (this.isLive(gateway)) yield this.leave(gateway);
    }
    const starting = this.isLed ? [this.chosen] : this.gateways;
    for (const gateway of starting) yield this.join(gateway, stampMs);
    yield* this.asks(stampMs);
  }

  /** What a log of several writers also has. */
  private *oddity(): Generator<LogBatch> {
    const { random, state } = this;
    const gateway = random.pick(this.gateways);
    const { id, counter } = gateway;
    const stampMs = state.time;
    const again = random.pick(this.sent);
    const kind = random.weighted({
      duplicate: 3,
      gap: 3,
      stranger: 1,
      genesis: 1,
      late: 2,
      noJoin: 3,
      badJoin: 1,
      strayJoin: 1,
      leave: 2,
      restart: 2,
      silence: 3,
      loneAsks: 1,
      version: 1,
      claim: this.isLed ? 6 : 0,
    });
    if (kind === "duplicate") yield again;
    if (kind === "gap") yield { ...again, writer: id, counter: counter + random.int(2, 4) };
    if (kind === "stranger") yield { ...again, writer: this.nextId(), counter: random.int(1, 3) };
    if (kind === "genesis") yield { ...again, writer: GENESIS_WRITER, counter: 0 };
    if (kind === "late" && this.ended.length > 0) yield* this.late(again);
    if (kind === "noJoin") yield this.noJoin(again);
    if (kind === "badJoin") yield this.badJoin(stampMs);
    if (kind === "strayJoin" && this.isLive(gateway)) {
      const writer = random.pick([id, this.nextId()]);
      yield this.batch(gateway, [joining(writer, gateway.name, stampMs)]);
    }
    if (kind === "claim") yield* this.oddClaim(gateway);
    if (kind === "leave" && this.isLive(gateway)) yield* this.departure(gateway);
    if (kind === "restart") yield this.join(gateway, stampMs);
    if (kind === "silence") {
      gateway.silentUntilMs = state.lastTick + random.int(1, 60) * TICK_MS;
      if (this.chosen === gateway) this.chosen = random.pick(this.gateways);
    }
    if (kind === "loneAsks" && this.isLive(gateway)) yield* this.loneAsks(gateway);
    if (kind === "version" && this.isLive(gateway) && this.versions[1] === ENGINE_VERSION) {
      const times = { stampMs, expiresAtMs: stampMs + 60_000 };
      yield this.batch(gateway, [{ kind: "Upgrade", ...times, version: ENGINE_VERSION + 1 }]);
    }
  }

  /** A writer that has ended goes on, or joins once more under its id. */
  private *late(again: LogBatch): Generator<LogBatch> {
    const writer = this.random.pick(this.ended);
    yield { ...again, writer };
    yield { writer, counter: 0, commands: [joining(writer, "gateway-1", this.state.time)] };
  }

  /** A first batch that is not exactly the join of its writer. */
  private noJoin(again: LogBatch): LogBatch {
    const writer = this.nextId();
    const join = joining(writer, "gateway-1", this.state.time);
    const other = { ...join, writer: this.nextId() };
    const named = { ...join, writer: "no id" };
    return this.random.pick<LogBatch>([
      { writer, counter: 0, commands: [] },
      { writer, counter: 0, commands: again.commands },
      { writer, counter: 0, commands: [join, join] },
      { writer, counter: 0, commands: [other] },
      { writer: named.writer, counter: 0, commands: [named] },
    ]);
  }

  /** Taken, and refused: the writer does not become live, and its id is used. */
  private badJoin(stampMs: number): LogBatch {
    const writer = this.nextId();
    const join = joining(writer, "gateway-1", stampMs);
    this.ended.push(writer);
    const wrong = this.random.pick<WriterJoined>([
      { ...join, name: "" },
      { ...join, name: "Gateway" },
      { ...join, name: "a".repeat(65) },
      { ...join, versions: [3, 2] },
      { ...join, versions: [0.5, 2] },
      { ...join, receiptKey: "ab" },
      { ...join, certificate: "CD".repeat(64) },
    ]);
    return { writer, counter: 0, commands: [wrong] };
  }

  /** It leaves, sometimes before the end of its batch. */
  private *departure(gateway: Gateway): Generator<LogBatch> {
    const stampMs = this.state.time;
    const session = [...this.state.sessions.keys()].at(-1) ?? 0;
    const after: Command[] = [
      { kind: "SessionConnected", stampMs, session },
      { kind: "SessionDisconnected", stampMs, session },
      { kind: "AskTime", stampMs },
      { kind: "WriterLeft", stampMs },
    ];
    yield this.leave(gateway, this.random.chance(0.5) ? after : []);
    yield { writer: gateway.id, counter: gateway.counter + 1, commands: [] };
  }

  /** Nobody else writes while it asks, again and again. */
  private *loneAsks(gateway: Gateway): Generator<LogBatch> {
    const stampMs = this.state.time + this.random.int(500, 20_000);
    const times = this.random.int(1, 7);
    for (let i = 0; i < times; i++) {
      yield this.batch(gateway, [{ kind: "AskTime", stampMs: stampMs + i * 1_000 }]);
    }
  }

  private leave(gateway: Gateway, after: readonly Command[] = []): LogBatch {
    this.ended.push(gateway.id);
    return this.batch(gateway, [{ kind: "WriterLeft", stampMs: this.state.time }, ...after]);
  }

  private join(gateway: Gateway, stampMs: number): LogBatch {
    if (gateway.id !== "") this.ended.push(gateway.id);
    gateway.id = this.nextId();
    const keys = this.random.chance(0.5) ? KEYS : {};
    if (this.isLed) {
      gateway.counter = this.state.epoch + 1;
      return this.batch(gateway, [{ ...this.claim(gateway, stampMs), ...keys }]);
    }
    gateway.counter = -1;
    const join = joining(gateway.id, gateway.name, stampMs);
    return this.batch(gateway, [{ ...join, ...keys, versions: this.versions }]);
  }

  private claim({ id, name, counter }: Gateway, stampMs: number): CoreLeads {
    const { versions } = this;
    const terms = { epoch: counter, run: id, core: name, versions };
    return { kind: "CoreLeads", stampMs, ...terms, receiptKey: "", certificate: "" };
  }

  /** Claims that are none, of another epoch, of nobody, or of a core that leads; and one that is refused. */
  private *oddClaim(gateway: Gateway): Generator<LogBatch> {
    const { random, state } = this;
    const id = random.pick([this.nextId(), gateway.id]);
    const epoch = state.epoch + random.pick([0, 1, 1, 1, 2]);
    const right = this.claim({ ...gateway, id, counter: epoch }, state.time);
    const batch = { writer: id, counter: epoch, commands: [right] };
    const tick: Command = { kind: "Tick", slot: state.lastTick / TICK_MS + 1 };
    const named = { ...right, run: "no id" };
    yield random.pick<LogBatch>([
      { ...batch, counter: epoch + 1 },
      { ...batch, commands: [right, tick] },
      { ...batch, commands: [{ ...right, run: this.nextId() }] },
      { writer: named.run, counter: epoch, commands: [named] },
      { ...batch, commands: [{ ...right, core: "" }] },
      { ...batch, commands: [{ ...right, receiptKey: "AB" }] },
    ]);
    // Within a batch of the core that leads it is refused.
    if (this.isLive(gateway)) yield this.batch(gateway, [right]);
  }

  private batch(gateway: Gateway, commands: readonly Command[]): LogBatch {
    if (!this.isLed) gateway.counter++;
    const batch = { writer: gateway.id, counter: gateway.counter, commands };
    this.sent.push(batch);
    if (this.sent.length > 20) this.sent.shift();
    return batch;
  }

  private awake(): Gateway[] {
    return this.gateways.filter((each) => this.isLive(each) && !this.isSilent(each));
  }

  private isSilent(gateway: Gateway): boolean {
    return this.state.lastTick < gateway.silentUntilMs;
  }

  private isLive(gateway: Gateway): boolean {
    return this.state.writers.some(({ id }) => id === gateway.id);
  }

  private nextId(): string {
    return writerId(FIRST_ID + this.joined++);
  }
}
