/**
 * A venue under load in its own process, for tests that kill it: orders, amendments, changes of margin
 * and batches. Arguments: the data folder, the number of the run, a file of what was acknowledged
 * earlier (`session nonce seq` per line), how many of these to check, and whether the history is rebuilt
 * meanwhile. It checks them first (exit code 3 if one is lost or different), or once the history is rebuilt,
 * trades, and writes each acknowledgement to standard output immediately, until it is killed.
 */
import { readFileSync, writeSync } from "node:fs";
import { ACKNOWLEDGED } from "../event-fields.js";
import { wordsOfBytes } from "../history/rows.js";
import type { Applied } from "../replica.js";
import { Venue } from "../venue.js";
import type { CommandOutcome } from "../views/outcome.js";
import {
  amendOf,
  BATCH_COUNT,
  batchOf,
  groupOf,
  isAmendment,
  isBatch,
  isMarginChange,
  marginOf,
  orderOf,
} from "./crash-commands.js";
import { signInCommand, testOptions } from "./test-venue.js";

const IN_FLIGHT = 48;
const TRADERS = 6;
const nothing = new Uint8Array(0);

const [directory = "", life = "0", past = "", newest = "0", history = ""] = process.argv.slice(2);
const isRebuilt = history === "rebuilt";

function bodyOf(session: number, nonce: number): Uint8Array {
  return Buffer.from(`order ${nonce} of session ${session}`);
}

async function lose(message: string): Promise<never> {
  writeSync(2, `${message}\n`);
  process.exit(3);
}

/** What is wrong with a command that was acknowledged, or null. */
function faultOf({ views, history }: Venue, session: number, nonce: number, seq: number) {
  const live = views.session(session);
  if (live !== undefined && views.seqOfNonce(live, nonce) > 0) {
    const change = views.marginChangeOf(live, nonce);
    if (isMarginChange(nonce) && change?.seq !== seq) return "another change of margin";
    const batch = views.batchOf(live, nonce);
    if (isBatch(nonce) && batch?.operations.length !== BATCH_COUNT) return "not the whole batch";
  }
  if (isMarginChange(nonce)) return null;
  if (views.acknowledgement(seq)?.acknowledgement.nonce !== nonce) return "lost";
  const leaf = wordsOfBytes(history.ack(seq)?.leaf ?? nothing);
  if (leaf[ACKNOWLEDGED.session] !== session) return "another session";
  const order = views.order(leaf[ACKNOWLEDGED.account] ?? 0, leaf[ACKNOWLEDGED.orderId] ?? 0);
  if (isAmendment(nonce)) return order?.clientOrderId === `c${nonce - 1}` ? null : "another order";
  return order?.nonce === nonce ? null : "no order";
}

/** `take` gets the command, of a batch the first one, with what became of it. */
function send(
  venue: Venue,
  session: number,
  nonce: number,
  take: (seq: number, outcome: CommandOutcome) => void,
): void {
  const evidence = { signed: bodyOf(session, nonce), signature: nothing, publicKey: nothing };
  const taken = (applied: Applied | null): void => {
    if (applied !== null) take(applied.seq, venue.views.outcome(applied));
  };
  if (isBatch(nonce)) {
    venue.submitTogether(batchOf(session, nonce), evidence, (applied, index) => {
      if (index === 0) taken(applied);
    });
    return;
  }
  const of = isAmendment(nonce) ? amendOf : isMarginChange(nonce) ? marginOf : orderOf;
  venue.submit(of(session, nonce), evidence, taken);
}

async function checkPast(venue: Venue): Promise<void> {
  const lines = readFileSync(past, "utf8").split("\n").slice(0, -1).slice(-Number(newest));
  for (const line of lines) {
    const [session = 0, nonce = 0, seq = 0] = line.split(" ").map(Number);
    const fault = faultOf(venue, session, nonce, seq);
    if (fault !== null) await lose(`${fault}: ${line}`);
  }
  // The newest nonces are still in their sessions' windows: repeated, they must return the same result.
  for (const line of lines.slice(-20)) {
    const [session = 0, nonce = 0, seq = 0] = line.split(" ").map(Number);
    const outcome = await new Promise<CommandOutcome>((resolve) => {
      send(venue, session, nonce, (_, outcome) => resolve(outcome));
    });
    if (outcome.kind !== "replayed" || outcome.orderId !== seq) {
      await lose(`sent again ${line}: ${JSON.stringify(outcome)}`);
    }
  }
  writeSync(1, `checked ${lines.length}\n`);
}

async function trade(venue: Venue): Promise<void> {
  const stampMs = venue.nowMs();
  const slot = Math.floor(stampMs / 200);
  const index = { kind: "UpdateIndex", stampMs, market: 0, indexTicks: 650_000, slot } as const;
  await venue.submitted(
    index,
    { signed: nothing, signature: nothing, publicKey: nothing },
    () => 0,
  );
  const sessions: number[] = [];
  for (let trader = 1; trader <= TRADERS; trader++) {
    const { command, evidence } = signInCommand(trader, `life${life}`, stampMs);
    sessions.push(await venue.submitted(command, evidence, ({ seq }) => seq));
  }
  writeSync(1, "trading\n");
  let nonce = 0;
  const next = (): void => {
    nonce++;
    const own = nonce;
    const session = sessions[groupOf(own) % TRADERS] ?? 0;
    send(venue, session, own, (seq, outcome) => {
      const isDone = outcome.kind === "acknowledged" || outcome.kind === "executed";
      if (isDone) writeSync(1, `${session} ${own} ${seq}\n`);
      setImmediate(next);
    });
  };
  for (let i = 0; i < IN_FLIGHT; i++) next();
}

const venue = await Venue.open(
  testOptions(directory, {
    clock: Date.now,
    monotonic: () => performance.now(),
    ticks: true,
    // Every third run takes snapshots; the others leave a longer log to replay.
    checkpoints:
      Number(life) % 3 === 0 ? { everyCommands: 700, everyMs: 3_600_000, keep: 2 } : null,
    segmentBytes: 1 << 18,
    ...(isRebuilt ? { waitedRecords: 0 } : {}),
  }),
);
void venue.failed.then((error) => {
  writeSync(2, `failed: ${error.message}\n`);
  process.exit(1);
});
if (!isRebuilt) await checkPast(venue);
await trade(venue);
if (isRebuilt) {
  while (venue.history.isRebuilding) await new Promise((resolve) => setTimeout(resolve, 10));
  writeSync(1, "rebuilt\n");
  await checkPast(venue);
}
