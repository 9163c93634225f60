/**
 * One book stream to a thousand sockets beside a bare `ws` loop, in turns: the processor time of a
 * send, and how long the last socket waits after the commit.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { forkOnIdleCores, forkScript } from "../orders/processes.js";
import { median, percentile, progress, type Report } from "../report.js";
import type { Request } from "./fan-out-server.js";
import type { ReadersPlan, ReadersRequest } from "./readers.js";

const WARM_UP_ROUNDS = 10;
const READ_MARKET = 0;
const UNREAD_MARKET = 1;

/** A child's messages in order, however many came before anyone asked. */
class Conversation {
  private readonly said: unknown[] = [];
  private onSaid: () => void = () => undefined;

  constructor(readonly child: ChildProcess) {
    child.on("message", (message) => {
      this.said.push(message);
      this.onSaid();
    });
  }

  send(message: Request | ReadersRequest): void {
    this.child.send(message);
  }

  async next(): Promise<Readonly<Record<string, unknown>>> {
    while (this.said.length === 0) {
      await new Promise<void>((resolve) => {
        this.onSaid = resolve;
      });
    }
    const message = this.said.shift();
    return typeof message === "object" && message !== null ? { ...message } : {};
  }

  ask(message: Request | ReadersRequest): Promise<Readonly<Record<string, unknown>>> {
    this.send(message);
    return this.next();
  }

  async stop(): Promise<void> {
    const gone = once(this.child, "exit");
    this.child.kill();
    await gone;
  }
}

const READERS = new URL("./readers.js", import.meta.url);

export async function startReaders(plan: ReadersPlan): Promise<Conversation> {
  const readers = new Conversation(forkScript(READERS, []));
  await readers.ask(plan);
  return readers;
}

/**
 * Readers elsewhere would read with cores of their own, so these only have what everybody else
 * leaves of this machine's.
 */
export async function startReadersElsewhere(plan: ReadersPlan): Promise<Conversation> {
  const readers = new Conversation(forkOnIdleCores(READERS));
  await readers.ask(plan);
  return readers;
}

/** Round by round. */
interface Measured {
  readonly waitsMs: number[];
  readonly cpuMicros: number[];
  frameBytes: number;
}

class Contest {
  constructor(private readonly server: Conversation) {}

  async round(readers: Conversation, request: Request, into: Measured): Promise<void> {
    await readers.ask("expect");
    const before = await this.cpuMicros();
    const committed = await this.server.ask(request);
    const arrival = await readers.next();
    into.cpuMicros.push((await this.cpuMicros()) - before);
    const waitNs = BigInt(String(arrival.lastAtNs)) - BigInt(String(committed.atNs));
    into.waitsMs.push(Number(waitNs) / 1e6);
    into.frameBytes = Number(arrival.frameBytes);
  }

  /** The same command in a market that nobody reads, over as long a time: what is not fan-out. */
  async control(request: Request, lastingMs: number): Promise<number> {
    const before = await this.cpuMicros();
    await this.server.ask(request);
    await setTimeout(lastingMs);
    return (await this.cpuMicros()) - before;
  }

  /** Of all threads of the server, in both modes. */
  private async cpuMicros(): Promise<number> {
    const { user, system } = await this.server.ask({ kind: "cpu" });
    return Number(user) + Number(system);
  }
}

function nothingMeasured(): Measured {
  return { waitsMs: [], cpuMicros: [], frameBytes: 0 };
}

export async function measureFanOut(
  report: Report,
  sockets: number,
  rounds: number,
): Promise<void> {
  const server = new Conversation(forkScript(new URL("./fan-out-server.js", import.meta.url), []));
  const { streams, bare: barePort } = await server.next();
  const contest = new Contest(server);
  progress(`connecting twice ${sockets} readers …`);
  const readers = await startReaders({ port: Number(streams), sockets, subscribe: "book.BTCUSD" });
  const bareReaders = await startReaders({ port: Number(barePort), sockets, subscribe: null });
  try {
    const ours = nothingMeasured();
    const bare = nothingMeasured();
    let controls: number[] = [];
    for (let i = 1 - WARM_UP_ROUNDS; i <= rounds; i++) {
      // One after the other, so that all meet the same machine and sockets that are as quiet.
      await contest.round(readers, { kind: "change", market: READ_MARKET }, ours);
      await contest.round(bareReaders, { kind: "broadcast", bytes: ours.frameBytes }, bare);
      const lasting = ours.waitsMs.at(-1) ?? 0;
      controls.push(await contest.control({ kind: "change", market: UNREAD_MARKET }, lasting));
      if (i === 0) {
        for (const measured of [ours, bare]) Object.assign(measured, nothingMeasured());
        controls = [];
      }
      if (i % 20 === 0) progress(`fan-out, round ${i} of ${rounds} …`);
    }
    // The middle of all rounds, each beside the bare round that followed it: one that the machine
    // disturbed counts for no more than any other.
    const control = median(controls);
    const ourMicros = ours.cpuMicros.map((micros) => micros - control);
    report.add("bare ws loop, processor time of a send", median(bare.cpuMicros) / sockets, "µs");
    report.add(
      `book stream to ${sockets} sockets, processor time of a send`,
      median(ourMicros) / sockets,
      "µs",
      "speed beside the bare loop, bar 0.9",
      median(ourMicros.map((micros, i) => (bare.cpuMicros[i] ?? 0) / micros)),
    );
    report.detail("frame of that stream, one level", ours.frameBytes, "bytes");
    for (const share of [0.5, 0.99]) {
      const ourWait = percentile(ours.waitsMs, share);
      const bareWait = percentile(bare.waitsMs, share);
      report.add(
        `book stream, commit to the last socket, p${share * 100}`,
        ourWait,
        "ms",
        `bare loop ${bareWait.toFixed(1)} ms`,
        ourWait / bareWait,
      );
    }
  } finally {
    await readers.stop();
    await bareReaders.stop();
    const gone = once(server.child, "exit");
    server.send({ kind: "stop" });
    await gone;
  }
}
