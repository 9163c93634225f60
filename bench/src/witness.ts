/**
 * From a signed checkpoint to a witness's cosignature: a gateway and an unmodified litewitness, without
 * orders and with some, compared with a bare request to that witness.
 *
 *   PERPGATE_LITEWITNESS=/path/litewitness npm run bench:witness [-- --help]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { noteKeyText } from "@perpgate/protocol/receipts";
import { newLogKey } from "@perpgate/venue";
import { Litewitness } from "@perpgate/venue/testing";
import { type Gateway, inFolder, withGateway } from "./harness/gateway.js";
import { ask, signInMany } from "./harness/http.js";
import { withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";

const options = parseOptions({
  command: "bench:witness",
  about: "From a signed checkpoint to a witness's cosignature.",
  numbers: {
    checkpoints: ["cosigned checkpoints that are timed", 60, 20],
    rate: ["orders a second in the second half", 200],
  },
  switches: {},
});
const CHECKPOINT_MS = 250;
const CONNECTIONS = 16;
const report = new Report("witness", ["network between venue and witness"]);

interface Cosigned {
  readonly size: number;
  readonly cosignedMs: number;
}

/** The newest cosigned checkpoint after one of that size. */
async function nextCosigned({ port }: Gateway, after: number): Promise<Cosigned> {
  for (;;) {
    const { text } = await ask({ port }, "/v1/honesty");
    const { checkpoint }: { checkpoint: Cosigned | null } = JSON.parse(text);
    if (checkpoint !== null && checkpoint.size > after && checkpoint.cosignedMs !== null) {
      return checkpoint;
    }
    await new Promise((resolve) => setTimeout(resolve, CHECKPOINT_MS / 10));
  }
}

async function cosignatures(gateway: Gateway): Promise<number[]> {
  const times: number[] = [];
  let { size } = await nextCosigned(gateway, 0);
  while (times.length < options.number("checkpoints")) {
    const next = await nextCosigned(gateway, size);
    size = next.size;
    times.push(next.cosignedMs);
  }
  return times.sort((a, b) => a - b);
}

async function bareRequests(url: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < options.number("checkpoints"); i++) {
    const startedAt = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - startedAt);
  }
  return times;
}

function add(name: string, times: readonly number[], bareMs: number): void {
  const p50 = median([...times]);
  report.add(`${name}, p50`, p50, "ms", "bare request", p50 / bareMs);
  report.detail(`${name}, largest of ${times.length}`, times.at(-1) ?? Number.NaN, "ms");
}

async function measure(gateway: Gateway, witness: Litewitness): Promise<void> {
  const { port } = gateway;
  const bareMs = median(await bareRequests(witness.url));
  report.detail("bare request to the witness, p50", bareMs, "ms");
  progress("witness: without orders …");
  add("checkpoint to cosignature", await cosignatures(gateway), bareMs);
  const rate = options.number("rate");
  progress(`witness: with ${rate} orders a second …`);
  const accounts = await signInMany({ port }, CONNECTIONS);
  await withLoad(async (open) => {
    const lane = await open({ address: { port }, send: accounts, connections: CONNECTIONS });
    let isOver = false;
    const load = (async () => {
      while (!isOver) await lane.paced(rate, rate);
    })();
    add(`with ${rate} orders/s`, await cosignatures(gateway), bareMs);
    isOver = true;
    await load;
  });
}

await report.step("cosignatures", () =>
  inFolder("witness", async (folder) => {
    const program = process.env.PERPGATE_LITEWITNESS;
    if (program === undefined) throw new Error("set PERPGATE_LITEWITNESS=/path/litewitness");
    const { key, secret } = newLogKey();
    const logKey = join(folder, "log.key");
    writeFileSync(logKey, `${secret}\n`, { mode: 0o600 });
    const witness = await Litewitness.prepare(program, folder);
    witness.follow(key.name, key.text);
    await witness.start();
    try {
      const witnesses = [{ url: witness.url, key: noteKeyText(witness.key) }];
      const receipts = { logKey, witnesses, checkpointMs: CHECKPOINT_MS };
      await withGateway((gateway) => measure(gateway, witness), { receipts });
    } finally {
      await witness.close();
    }
  }),
);
report.print(options.has("json"));
