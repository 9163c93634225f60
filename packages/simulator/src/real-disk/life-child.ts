/**
 * One life of a real venue in a child process: real threads, a real disk, a wall clock that may be
 * wrong. Its argument is a plan. It prints each answered command first of all:
 * `seq record-hash events-hash`. After the planned number of answers a thread ends, or the process.
 *
 * Exit codes: 3 the start was refused (the reason is on standard error), 4 nothing ended it. In every
 * other case it kills itself: how a failed venue ends its process is tested elsewhere.
 */

import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { LogBehind } from "@perpgate/journal";
import { Random } from "@perpgate/protocol/random";
import { encodeRecord, systemBootClock, Venue } from "@perpgate/venue";
import { LISTED, LISTING } from "../listing.js";
import type { SimulatedGateway } from "../traders/gateway.js";
import { Operator } from "../traders/operator.js";
import { Trader } from "../traders/trader.js";
import { isPlan, type LifePlan } from "./life-plan.js";

const TRADERS = 4;
/** Commands per turn. */
const ACTIONS = 12;
/** Answers after a thread has ended and before the process is killed, if the venue goes on. */
const ANSWERS_AFTER = 300;
const MOST_MS = 60_000;

const workers: Worker[] = [];
process.on("worker", (worker) => workers.push(worker));

function planOf(text: string): LifePlan {
  const plan: unknown = JSON.parse(text);
  if (!isPlan(plan)) throw new Error("the argument is no plan");
  return plan;
}

const plan = planOf(process.argv[2] ?? "null");

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

class AnswerCount {
  private count = 0;
  private hasStruck = false;

  /** A command was answered; what the plan says happens at its count. */
  onAnswer(line: string): void {
    writeSync(1, `${line}\n`);
    this.count++;
    if (this.count >= plan.answered && !this.hasStruck) this.strike();
    if (this.count >= plan.answered + ANSWERS_AFTER) die();
  }

  private strike(): void {
    this.hasStruck = true;
    if (plan.thread === undefined) die();
    const worker = workers[plan.thread];
    if (worker === undefined) throw new Error(`there is no thread ${plan.thread}`);
    void worker.terminate();
  }
}

function gatewayOf(venue: Venue, answers: AnswerCount): SimulatedGateway {
  return {
    submit: (command, evidence, onAnswer) => {
      const record = hashOf(encodeRecord(command, evidence));
      venue.submit(command, evidence, (applied) => {
        if (applied === null) return onAnswer(null);
        answers.onAnswer(`${applied.seq} ${record} ${hashOf(applied.events.bytes())}`);
        onAnswer(applied.events.decode());
      });
    },
  };
}

async function openVenue(): Promise<Venue> {
  try {
    return await Venue.open({
      directory: plan.directory,
      config: LISTING,
      listing: LISTED,
      cohort: "open",
      clock: () => Date.now() + plan.clockShiftMs,
      bootClock: systemBootClock,
      checkpoints: { everyCommands: 150, everyMs: 3_600_000, keep: 2 },
      segmentBytes: 1 << 16,
      acceptLoss: plan.acceptLoss,
    });
  } catch (error) {
    if (!(error instanceof LogBehind)) throw error;
    writeSync(2, `${error.message}\n`);
    process.exit(3);
  }
}

async function live(): Promise<void> {
  const venue = await openVenue();
  void venue.failed.then(die);
  const random = new Random(plan.seed);
  const gateway = gatewayOf(venue, new AnswerCount());
  const operator = new Operator(random);
  const traders = Array.from({ length: TRADERS }, () => new Trader(random));
  const turn = (): void => {
    operator.act(gateway, venue.nowMs());
    for (let action = 0; action < ACTIONS; action++) {
      traders[random.below(TRADERS)]?.act(gateway, venue.nowMs());
    }
    setTimeout(turn, random.below(4));
  };
  turn();
  setTimeout(() => process.exit(4), MOST_MS);
}

await live();
