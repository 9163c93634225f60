/**
 * Runs mutants of one file of the engine, which is bundled into this process with all of them, against the
 * flows of agreement.test.ts and the recorded logs. A mutant is killed by the first command whose events are
 * not those of the naive model, or of the recording, or by an exception.
 *
 *   node worker.js corpus FILE          writes the flows and their events
 *   node worker.js run FILE IDS FROM    one line of JSON per mutant, from the FROMth on
 *   MUTANT=ID node worker.js one FILE   the same for one, which is on while the modules are loaded
 */
import { readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { gunzipSync } from "node:zlib";
import { audit } from "../../packages/engine/src/audit.js";
import { Engine } from "../../packages/engine/src/engine.js";
import { batches, FIRST_SEED } from "../../packages/engine/src/testing/flow/flow.js";
import { applyBatch } from "../../packages/engine/src/testing/flow/log-batch.js";
import { PROFILES } from "../../packages/engine/src/testing/flow/profiles.js";
import { ReferenceVenue } from "../../packages/engine/src/testing/reference/venue.js";

const RECORDED = "packages/engine/src/testing/replay/recorded/version-2.json.gz";
/** Of each flow; a rule that a flow reaches later is left to the tests. */
const COMMANDS = 4_500;
/** Times that a mutant may be reached in a flow, as a multiple of the unchanged engine's. */
const MOST_HITS = 20;

/** The switch, which the bundle begins with: see flow-mutants.mjs. */
const { mutants } = globalThis;
/** What was reached when the modules were loaded takes a process that begins with the mutant. */
const reachedByLoading = new Set(mutants.reached.keys());

const [mode, file, ids, from] = process.argv.slice(2);
if (mode === "corpus") writeFileSync(file, serialize(corpus()));
else if (mode === "one") runOne(deserialize(readFileSync(file)));
else run(deserialize(readFileSync(file)), JSON.parse(readFileSync(ids)).slice(Number(from)));

function corpus() {
  const flows = Object.keys(PROFILES).map((name) => {
    const reference = new ReferenceVenue(1_000_000);
    const list = [];
    const events = [];
    for (const batch of batches(name, FIRST_SEED, COMMANDS, reference)) {
      list.push(batch);
      applyBatch(reference, batch, (_, expected) => events.push(JSON.stringify(expected)));
    }
    return { ...recorded(name, list), events };
  });
  for (const { name, commands, events } of flows) {
    const differs = commands.findIndex(({ text }, i) => text !== events[i]);
    if (differs >= 0) throw new Error(`${name}: model and engine differ at command ${differs}`);
  }
  const logs = JSON.parse(gunzipSync(readFileSync(RECORDED)).toString()).map((log) =>
    recorded(`recorded ${log.profile}`, log.batches),
  );
  return [...flows, ...logs].map(({ name, list, words, drops }) => ({ name, list, words, drops }));
}

/** The batches with the words of all their events. */
function recorded(name, list) {
  const engine = new Engine();
  const words = [];
  const commands = [];
  const drops = list.map((batch) =>
    applyBatch(engine, batch, (_, log) => {
      words.push(log.words.slice(0, log.length));
      commands.push({ text: JSON.stringify(log.decode()) });
    }),
  );
  return { name, list, words, drops, commands };
}

/** The number of the first command that differs; −1: none. */
function differsAt({ list, words, drops }) {
  const engine = new Engine();
  let at = 0;
  for (let b = 0; b < list.length; b++) {
    const { writer, counter, commands } = list[b];
    if (engine.acceptBatch(writer, counter, commands) !== drops[b]) return at;
    if (drops[b] !== null) continue;
    for (const command of commands) {
      const log = engine.apply(command);
      const expected = words[at];
      if (log.length !== expected.length) return at;
      for (let i = 0; i < expected.length; i++) if (log.words[i] !== expected[i]) return at;
      at++;
    }
  }
  return audit(engine).length > 0 ? at : -1;
}

function run(streams, ids) {
  mutants.counts = true;
  const reached = streams.map((stream) => {
    mutants.reached = new Map();
    if (differsAt(stream) >= 0) throw new Error(`${stream.name} differs without a mutant`);
    return mutants.reached;
  });
  mutants.counts = false;
  console.log("ready");
  for (const id of ids) {
    const isLoaded = reachedByLoading.has(id);
    mutants.active = isLoaded ? -1 : id;
    let status = isLoaded ? "Loaded" : "NoCoverage";
    let at = null;
    for (let i = 0; i < streams.length && at === null; i++) {
      const hits = reached[i].get(id);
      if (hits === undefined || isLoaded) continue;
      status = "Survived";
      mutants.hits = 0;
      mutants.mostHits = 1_000 + MOST_HITS * hits;
      at = killedBy(streams[i]);
    }
    console.log(JSON.stringify({ status: at === null ? status : "Killed", at: at ?? "" }));
  }
}

function runOne(streams) {
  mutants.counts = false;
  mutants.mostHits = Number.POSITIVE_INFINITY;
  console.log("ready");
  const at = streams.reduce((found, stream) => found ?? killedBy(stream), null);
  console.log(JSON.stringify({ status: at === null ? "Survived" : "Killed", at: at ?? "" }));
}

function killedBy(stream) {
  try {
    const at = differsAt(stream);
    return at < 0 ? null : `${stream.name} ${at}`;
  } catch (error) {
    return `${stream.name}: ${String(error).slice(0, 60)}`;
  }
}
