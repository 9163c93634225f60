/**
 * A venue under load in its own process, for tests that kill it. Arguments: the data folder, the number
 * of the run, a file of earlier acknowledgements (`session nonce seq` per line), and how many of them
 * to check. It checks them first (exit code 3 if one is lost or different), then trades, and writes each
 * acknowledgement to standard output immediately, until it is killed.
 */
import { readFileSync, writeSync } from "node:fs";
import { ACKNOWLEDGED } from "../events/event-fields.js";
import { wordsOfBytes } from "../history/rows.js";
import { Venue } from "../venue.js";
import { orderCommand, signInCommand, testOptions } from "./test-venue.js";

const IN_FLIGHT = 48;
const TRADERS = 6;
const nothing = new Uint8Array(0);

const [directory = "", life = "0", past = "", newest = "0"] = process.argv.slice(2);

function bodyOf(session: number, nonce: number): Uint8Array {
  return Buffer.from(`order ${nonce} of session ${session}`);
}

function orderOf(session: number, nonce: number) {
  const side = nonce % 2 === 0 ? "long" : "short";
  // Around the index: some rest, some trade.
  return orderCommand(session, nonce, side, 649_990 + ((nonce * 7) % 21), 1);
}

async function lose(message: string): Promise<never> {
  writeSync(2, `${message}\n`);
  process.exit(3);
}

async function checkPast(venue: Venue): Promise<void> {
  const lines = readFileSync(past, "utf8").split("\n").slice(0, -1).slice(-Number(newest));
  for (const line of lines) {
    const [session = 0, nonce = 0, seq = 0] = line.split(" ").map(Number);
    const ack = venue.views.acknowledgement(seq);
    if (ack?.acknowledgement.nonce !== nonce) await lose(`lost: ${line}`);
    const leaf = wordsOfBytes(venue.history.ack(seq)?.leaf ?? nothing);
    const order = venue.views.order(leaf[ACKNOWLEDGED.account] ?? 0, seq);
    if (order?.nonce !== nonce || leaf[ACKNOWLEDGED.session] !== session) {
      await lose(`no order: ${line}`);
    }
  }
  // The newest nonces are still in their sessions' windows: repeated, they must return the same result.
  for (const line of lines.slice(-20)) {
    const [session = 0, nonce = 0, seq = 0] = line.split(" ").map(Number);
    const outcome = await venue.submitted(
      orderOf(session, nonce),
      { signed: bodyOf(session, nonce), signature: nothing, publicKey: nothing },
      (applied) => venue.views.outcome(applied),
    );
    if (outcome.kind !== "replayed" || outcome.orderId !== seq) {
      await lose(`sent again ${line}: ${JSON.stringify(outcome)}`);
    }
  }
  writeSync(1, `checked ${lines.length}\n`);
}

async function trade(venue: Venue): Promise<void> {
  const stampMs = venue.nowMs();
  const index = { kind: "UpdateIndex", stampMs, market: 0, indexTicks: 650_000 } as const;
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
    const session = sessions[own % TRADERS] ?? 0;
    const evidence = { signed: bodyOf(session, own), signature: nothing, publicKey: nothing };
    venue.submit(orderOf(session, own), evidence, (applied) => {
      if (applied === null) return;
      const outcome = venue.views.outcome(applied);
      if (outcome.kind === "acknowledged") {
        writeSync(1, `${session} ${own} ${applied.seq}\n`);
      }
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
  }),
);
void venue.failed.then((error) => {
  writeSync(2, `failed: ${error.message}\n`);
  process.exit(1);
});
await checkPast(venue);
await trade(venue);
