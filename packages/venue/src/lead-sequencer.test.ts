/** The sequencer of a core on a log with a fence, of which the test decides what is stored. */
import { type Command, ENGINE_VERSION, GENESIS_WRITER } from "@perpgate/engine";
import type { Batch, CoreLog, OwnBatch, Settled } from "@perpgate/journal";
import { describe, expect, test } from "vitest";
import { LeadSequencer } from "./lead-sequencer.js";
import { venueConfigOf } from "./listing/venue-config.js";
import type { Machine } from "./machine.js";
import { NotApplied, type Unanswered } from "./pending-batches.js";
import { decodeRecord, encodeRecord, NO_EVIDENCE } from "./record/record.js";
import { Replica } from "./replica.js";
import { READABLE_VERSIONS } from "./sequencer.js";
import { START_MS, TEST_MARKETS } from "./testing/test-venue.js";

const OWN = "1".repeat(32);
const OTHER = "2".repeat(32);
const GENESIS = {
  kind: "Genesis",
  stampMs: START_MS,
  config: venueConfigOf(TEST_MARKETS),
  cohort: "open",
} as const;

/** One list of batches; what this core proposes waits until the test stores it, or another batch. */
class FencedList implements CoreLog {
  proposed: readonly Uint8Array[] | undefined;
  isReady = true;
  isClosed = false;
  onAnnouncement = (): void => undefined;
  readonly isClockShared = true;
  readonly stopped = new Promise<Error>(() => undefined);
  private onBatch: (batch: Batch, settled: Settled) => void = () => undefined;
  private batches = 0;
  private records = 0;

  async start(onBatch: (batch: Batch, settled: Settled) => void): Promise<void> {
    this.onBatch = onBatch;
  }

  get mayPropose(): boolean {
    return this.isReady && this.proposed === undefined;
  }

  propose(records: readonly Uint8Array[]): void {
    this.proposed = records;
  }

  handOver(): string {
    return "";
  }

  announce(): void {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** Stores what is in flight. */
  store(epoch: number): void {
    this.deliver(OWN, epoch, this.proposed ?? [], "stored");
  }

  /** Stores a batch of somebody else. */
  storeOther(writer: string, counter: number, ...commands: readonly Command[]): void {
    const records = commands.map((command) => encodeRecord(command, NO_EVIDENCE));
    this.deliver(writer, counter, records, this.proposed === undefined ? "none" : "never");
  }

  /** Stores what this core claims with. */
  storeOwn({ counter, records }: OwnBatch): void {
    this.deliver(OWN, counter, records, "stored");
  }

  /** Stores bytes that nobody can read. */
  storeRubbish(): void {
    this.deliver(OTHER, 0, undefined, this.proposed === undefined ? "none" : "never");
  }

  private deliver(
    writer: string,
    counter: number,
    records: readonly Uint8Array[] | undefined,
    settled: Settled,
  ): void {
    this.proposed = undefined;
    const seq = { batch: this.batches, record: this.records };
    this.batches++;
    this.records += records?.length ?? 0;
    const end = { batch: this.batches, record: this.records };
    const id = { writer, counter };
    this.onBatch(
      records === undefined
        ? { id, seq, end, records: [], isUnfit: true }
        : { id, seq, end, records },
      settled,
    );
  }
}

async function begin(engineVersion = ENGINE_VERSION) {
  const log = new FencedList();
  const replica = new Replica();
  let nowMs = 0;
  let check = (): void => undefined;
  const machine: Machine = {
    monotonic: () => nowMs,
    after: (_ms, run) => setImmediate(run),
    every: (_ms, run) => {
      check = run;
      return () => undefined;
    },
    newWriter: () => OWN,
  };
  const begun: number[] = [];
  const losses: number[] = [];
  const time: Command[] = [];
  const lead = new LeadSequencer(
    replica,
    () => ({ name: "core-1", receiptKey: "", certificate: "" }),
    { run: OWN, versions: READABLE_VERSIONS },
    {
      onFailure: (error) => {
        throw error;
      },
      atPublish: () => time,
      onLead: () => begun.push(lead.leader().epoch),
      onLeadLost: () => losses.push(lead.leader().epoch),
      nowMs: () => START_MS,
    },
    machine,
  );
  await lead.start(log, () => log.close());
  log.storeOther(GENESIS_WRITER, 0, { ...GENESIS, engineVersion });
  lead.stand();
  const leads = (run: string, epoch: number): Command => ({
    kind: "CoreLeads",
    stampMs: START_MS,
    epoch,
    run,
    core: run === OWN ? "core-1" : "core-2",
    versions: READABLE_VERSIONS,
    receiptKey: "",
    certificate: "",
  });
  const results: (number | Unanswered)[] = [];
  return {
    log,
    lead,
    begun,
    losses,
    results,
    /** What moves the log's time, with the next batch. */
    time,
    state: replica.engine.state,
    /** Another core, or this one, begins an epoch. */
    begins: (run: string, epoch: number) => log.storeOther(run, epoch, leads(run, epoch)),
    submit: (indexTicks: number) => {
      const stampMs = START_MS;
      const command = { kind: "UpdateIndex", stampMs, market: 0, indexTicks, slot: indexTicks };
      lead.submit(command as Command, NO_EVIDENCE, (applied, why) =>
        results.push(applied === null ? why : applied.seq),
      );
    },
    turn: () => Promise.resolve(),
    pass: (ms: number) => {
      nowMs += ms;
      check();
    },
  };
}

const kindsOf = (records: readonly Uint8Array[] | undefined) =>
  records?.map((record) => decodeRecord(record).command.kind);

const commandsOf = (batch: OwnBatch | undefined) =>
  batch?.records.map((record) => decodeRecord(record).command);

describe("the first core of a log that release 0.2 has written", () => {
  const OLD_GATEWAY: Command = {
    kind: "WriterJoined",
    stampMs: START_MS,
    writer: OTHER,
    name: "gateway-1",
    versions: [2, 2],
    receiptKey: "",
    certificate: "",
  };

  test("joins, upgrades the rules, leaves, and claims", async () => {
    const { log, lead, state } = await begin(2);
    const written: unknown[] = [];
    while (!lead.isLive) {
      const batch = lead.claim();
      written.push([batch?.counter, kindsOf(batch?.records)]);
      log.storeOwn(batch!);
    }
    expect(written).toEqual([
      [0, ["WriterJoined"]],
      [1, ["Upgrade"]],
      [2, ["WriterLeft"]],
      [1, ["CoreLeads"]],
    ]);
    expect(state.rules.version).toBe(ENGINE_VERSION);
    expect(lead.leader()).toEqual({ epoch: 1, run: OWN });
  });

  test("waits for the end of gateways that cannot read the next version", async () => {
    const { log, lead, time, state } = await begin(2);
    log.storeOther(OTHER, 0, OLD_GATEWAY);
    log.storeOwn(lead.claim()!);
    expect(lead.claim()).toBeUndefined();
    const first = START_MS / 200 + 1;
    for (let slot = first; slot < first + 26; slot++) {
      time[0] = { kind: "Tick", slot };
      const batch = lead.claim();
      expect(kindsOf(batch?.records)).toEqual(["Tick"]);
      log.storeOwn(batch!);
    }
    time.length = 0;
    expect(kindsOf(lead.claim()?.records)).toEqual(["Upgrade"]);
    log.storeOwn(lead.claim()!);
    expect(state.rules.version).toBe(ENGINE_VERSION);
  });

  test("goes on where another core ended on the way", async () => {
    const { log, lead } = await begin(2);
    log.storeOther(OTHER, 0, { ...OLD_GATEWAY, name: "core-2", versions: READABLE_VERSIONS });
    const upgrade = { kind: "Upgrade", stampMs: START_MS, expiresAtMs: START_MS, version: 3 };
    log.storeOther(OTHER, 1, upgrade as Command);
    const claim = lead.claim();
    expect(kindsOf(claim?.records)).toEqual(["CoreLeads"]);
    log.storeOwn(claim!);
    expect(lead.isLive).toBe(true);
  });
});

describe("a core that stands by", () => {
  test("takes no command, and claims when it is asked", async () => {
    const { lead, submit, results } = await begin();
    submit(1);
    expect([results, lead.isLive]).toEqual([["not_executed"], false]);
    expect(commandsOf(lead.claim())).toMatchObject([{ kind: "CoreLeads", run: OWN, epoch: 1 }]);
  });

  test("a log without its Genesis is claimed by nobody", async () => {
    const log = new FencedList();
    const nothing = () => undefined;
    const roles = { onLead: nothing, onLeadLost: nothing };
    const hooks = { onFailure: nothing, atPublish: () => [], ...roles };
    const identity = () => ({ name: "core-1", receiptKey: "", certificate: "" });
    const lead = new LeadSequencer(
      new Replica(),
      identity,
      { run: OWN, versions: READABLE_VERSIONS },
      { ...hooks, nowMs: () => START_MS },
    );
    await lead.start(log, () => log.close());
    lead.stand();
    expect(lead.claim()).toBeUndefined();
    await lead.close();
    expect(log.isClosed).toBe(true);
  });
});

describe("the core that leads", () => {
  test("has one batch in flight, and answers when it is delivered", async () => {
    const { log, lead, submit, results, begins, turn } = await begin();
    begins(OWN, 1);
    submit(1);
    await turn();
    submit(2);
    submit(3);
    await turn();
    expect(kindsOf(log.proposed)).toHaveLength(1);
    log.store(1);
    expect(results).toEqual([3]);
    lead.mayPropose();
    expect(kindsOf(log.proposed)).toHaveLength(2);
    log.store(1);
    expect(results).toEqual([3, 4, 5]);
  });

  test("writes first what an epoch begins with, once", async () => {
    const { log, lead, submit, begins, turn } = await begin();
    lead.firstOfEpoch = () => [{ kind: "Tick", slot: START_MS / 200 + 1 }];
    begins(OWN, 1);
    submit(1);
    await turn();
    expect(kindsOf(log.proposed)).toEqual(["Tick", "UpdateIndex"]);
    log.store(1);
    submit(2);
    await turn();
    expect(kindsOf(log.proposed)).toEqual(["UpdateIndex"]);
  });

  test("holds what clients ask for until it knows what an epoch begins with; the time goes on", async () => {
    const { log, lead, submit, time, results, begins, turn } = await begin();
    const slot = START_MS / 200 + 1;
    let known: (commands: readonly Command[]) => void = () => undefined;
    lead.firstOfEpoch = () =>
      new Promise((resolve) => {
        known = resolve;
      });
    begins(OWN, 1);
    submit(1);
    await turn();
    expect(log.proposed).toBeUndefined();
    time[0] = { kind: "Tick", slot };
    lead.mayPropose();
    expect(kindsOf(log.proposed)).toEqual(["Tick"]);
    log.store(1);
    time.length = 0;
    const index = {
      kind: "UpdateIndex",
      stampMs: START_MS,
      market: 0,
      indexTicks: 9,
      slot,
    } as const;
    known([index]);
    await turn();
    await turn();
    expect(kindsOf(log.proposed)).toEqual(["UpdateIndex", "UpdateIndex"]);
    expect(decodeRecord(log.proposed![0]!).command).toEqual(index);
    log.store(1);
    expect(results).toHaveLength(1);
    submit(2);
    await turn();
    expect(kindsOf(log.proposed)).toEqual(["UpdateIndex"]);
  });

  test("what an epoch of before was to begin with is not written", async () => {
    const { log, lead, submit, begins, turn } = await begin();
    const known: ((commands: readonly Command[]) => void)[] = [];
    lead.firstOfEpoch = () => new Promise((resolve) => known.push(resolve));
    begins(OWN, 1);
    lead.mayPropose();
    begins(OTHER, 2);
    begins(OWN, 3);
    submit(1);
    await turn();
    const tick = (slot: number): Command => ({ kind: "Tick", slot: START_MS / 200 + slot });
    known[0]!([tick(1)]);
    await turn();
    expect(log.proposed).toBeUndefined();
    known[1]!([tick(2)]);
    await turn();
    await turn();
    expect(kindsOf(log.proposed)).toEqual(["Tick", "UpdateIndex"]);
    expect(decodeRecord(log.proposed![0]!).command).toEqual(tick(2));
  });

  test("a stranger's bytes are in its batch's place: the same commands go into the next, once", async () => {
    const { log, submit, results, begins, turn, lead } = await begin();
    begins(OWN, 1);
    submit(1);
    await turn();
    log.storeRubbish();
    expect(results).toEqual([]);
    lead.mayPropose();
    expect(kindsOf(log.proposed)).toEqual(["UpdateIndex"]);
    log.store(1);
    expect([results, lead.waiting]).toEqual([[3], 0]);
  });

  test("a stranger's bytes are in the place of what an epoch begins with: it is written again, once", async () => {
    const { log, lead, submit, begins, turn } = await begin();
    lead.firstOfEpoch = () => [{ kind: "Tick", slot: START_MS / 200 + 1 }];
    begins(OWN, 1);
    submit(1);
    await turn();
    log.storeRubbish();
    lead.mayPropose();
    expect(kindsOf(log.proposed)).toEqual(["Tick", "UpdateIndex"]);
    log.store(1);
    submit(2);
    await turn();
    expect(kindsOf(log.proposed)).toEqual(["UpdateIndex"]);
  });

  test("another core's claim is in its batch's place: nothing of it is executed, all of it given up", async () => {
    const { log, submit, results, begins, turn, lead, losses } = await begin();
    begins(OWN, 1);
    submit(1);
    await turn();
    submit(2);
    begins(OTHER, 2);
    expect(results).toEqual(["not_executed", "not_executed"]);
    expect([losses, lead.isLive, lead.waiting]).toEqual([[2], false, 0]);
    lead.mayPropose();
    expect(log.proposed).toBeUndefined();
  });

  test("says when it begins and when it ends, each time", async () => {
    const { log, begun, losses, begins } = await begin();
    begins(OTHER, 1);
    begins(OWN, 2);
    log.storeRubbish();
    begins(OTHER, 3);
    begins(OWN, 4);
    expect([begun, losses]).toEqual([[2, 4], [3]]);
  });

  test("nothing can be published for 8 s: not executed", async () => {
    const { log, submit, results, begins, turn, pass } = await begin();
    begins(OWN, 1);
    log.isReady = false;
    submit(1);
    await turn();
    pass(7_900);
    expect(results).toEqual([]);
    pass(200);
    expect(results).toEqual(["not_executed"]);
  });

  test("what is in flight is waited for, though younger commands are given up meanwhile", async () => {
    const { log, lead, submit, results, begins, turn, pass } = await begin();
    let settled = 0;
    const wait = () => lead.whenSettled(() => settled++);
    wait();
    expect(settled).toBe(1);
    begins(OWN, 1);
    submit(1);
    await turn();
    submit(2);
    wait();
    pass(9_000);
    await turn();
    expect([results, settled]).toEqual([["not_executed"], 1]);
    submit(3);
    log.store(1);
    await turn();
    expect([results, settled]).toEqual([["not_executed", expect.any(Number)], 2]);
    // Not for what was submitted since.
    expect(lead.waiting).toBe(1);
    wait();
    lead.fail(new NotApplied("stopped"));
    await turn();
    expect(settled).toBe(3);
  });
});
