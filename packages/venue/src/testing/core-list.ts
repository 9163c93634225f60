/**
 * A log that several cores of one process share: one list of messages, which all of them apply at once. The
 * test says who claims to lead, and may hold what the leader writes.
 */
import { createHash } from "node:crypto";
import { GENESIS_WRITER } from "@perpgate/engine";
import type {
  CoreLog,
  CoreLogHooks,
  Mirror,
  OpenCoreLog,
  OwnBatch,
  Settled,
} from "@perpgate/journal";
import { batchOf, CHAIN_BYTES, encodeMessage, encodeMirrored, mirroredId } from "@perpgate/journal";
import { genesisRecord } from "../venue-beginning.js";
import type { VenueOptions } from "../venue-options.js";

const SUBJECT = "list.log.core";
const NOWHERE = { seq: 0, chain: new Uint8Array(CHAIN_BYTES) };
const FENCED = { isFenced: true } as const;
const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };

export class CoreList {
  /** While true, what the leader writes waits, as while the servers elect. */
  isHeld = false;
  /** While true, what the leader has published waits, as in a server that elects. */
  isStalled = false;
  private readonly stalled: (() => void)[] = [];
  private readonly messages: Uint8Array[] = [];
  private readonly chains: Uint8Array[] = [];
  private readonly cores = new Map<string, ListedCore>();

  /** A list with its Genesis. */
  constructor(options: VenueOptions, stampMs: number) {
    this.append(GENESIS_WRITER, { counter: 0, records: [genesisRecord(options, stampMs)] });
  }

  /** For the core of this name. */
  opener(name: string): OpenCoreLog {
    return async (mirror, hooks, { run }) => {
      const core = new ListedCore(this, mirror, hooks, run);
      this.cores.set(name, core);
      return core;
    };
  }

  /** The core leads from now on. */
  claim(name: string): void {
    this.cores.get(name)?.claim();
  }

  publish(writer: string, batch: OwnBatch): void {
    const store = () => this.append(writer, batch);
    if (this.isStalled) this.stalled.push(store);
    else queueMicrotask(store);
  }

  /** What was held is written. */
  release(): void {
    this.isHeld = false;
    this.isStalled = false;
    for (const store of this.stalled.splice(0)) store();
    for (const core of this.cores.values()) core.mayGoOn();
  }

  append(writer: string, { counter, records }: OwnBatch): void {
    const message = encodeMessage({
      ...{ writer, counter, records, claim: NOWHERE, block: NO_BLOCK },
      ...(writer === GENESIS_WRITER ? {} : FENCED),
    });
    const before = this.chains.at(-1) ?? new Uint8Array(CHAIN_BYTES);
    this.messages.push(message);
    this.chains.push(createHash("sha256").update(before).update(message).digest());
    for (const core of this.cores.values()) core.deliver(this.messages.length, writer);
  }

  deliverAll(core: ListedCore): void {
    for (let sequence = 1; sequence <= this.messages.length; sequence++) core.deliver(sequence, "");
  }

  at(sequence: number): { readonly message: Uint8Array; readonly chain: Uint8Array } {
    return { message: this.messages[sequence - 1]!, chain: this.chains[sequence - 1]! };
  }
}

class ListedCore implements CoreLog {
  readonly isClockShared = true;
  readonly stopped = new Promise<Error>(() => undefined);
  onAnnouncement = (): void => undefined;
  private onBatch: Parameters<CoreLog["start"]>[0] | undefined;
  private isInFlight = false;

  constructor(
    private readonly list: CoreList,
    private readonly mirror: Mirror,
    private readonly hooks: CoreLogHooks,
    private readonly run: string,
  ) {}

  async start(onBatch: Parameters<CoreLog["start"]>[0]): Promise<void> {
    this.onBatch = onBatch;
    this.list.deliverAll(this);
  }

  get mayPropose(): boolean {
    return !this.list.isHeld && !this.isInFlight && this.hooks.leader().run === this.run;
  }

  propose(records: readonly Uint8Array[]): void {
    const { epoch } = this.hooks.leader();
    this.isInFlight = true;
    this.list.publish(this.run, { counter: epoch, records });
  }

  claim(): void {
    const batch = this.hooks.claim();
    if (batch !== undefined) this.list.append(this.run, batch);
  }

  deliver(sequence: number, writer: string): void {
    const { mirror, onBatch, isInFlight } = this;
    if (onBatch === undefined || sequence <= mirror.end) return;
    this.isInFlight = false;
    const { message, chain } = this.list.at(sequence);
    const verdict = "sound";
    void mirror.append(sequence, encodeMirrored({ verdict, chain, subject: SUBJECT, message }));
    const seq = { batch: sequence - 1, record: sequence - 1 };
    const end = { batch: sequence, record: sequence };
    const batch = batchOf({ verdict, message }, { id: mirroredId(sequence), seq, end });
    const settled: Settled = isInFlight ? (writer === this.run ? "stored" : "never") : "none";
    onBatch(batch, settled);
    this.mayGoOn();
  }

  mayGoOn(): void {
    if (this.mayPropose) this.hooks.mayPropose();
  }

  handOver(): string {
    return "";
  }

  announce(): void {}

  async close(): Promise<void> {
    this.onBatch = undefined;
  }
}
