/**
 * The bots of the examples live through every scenario of the sandbox, faster than it is written. What only
 * its whole length brings, such as hours of funding, the grid bot lives through in fast time.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { until } from "@perpgate/journal/testing";
import { namedScenario, type Scenario, scenarioNames, startVenue } from "@perpgate/sandbox";
import { describe, test } from "vitest";

const EXAMPLES = fileURLToPath(new URL("../../../../examples/", import.meta.url));
const SECONDS = 5;
/** Fills, seconds and rounds that no bot comes to here. */
const MANY = 1_000_000;

/** Its lines come sooner, what they do takes the time that they say. */
function hastened(scenario: Scenario): Scenario {
  const times = Math.max(1, scenario.endMs / (SECONDS * 1_000));
  return {
    ...scenario,
    steps: scenario.steps.map((step) => ({ ...step, atMs: step.atMs / times })),
    endMs: scenario.endMs / times,
  };
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Bot {
  /** As Ctrl-C does. */
  stop(): void;
  readonly ended: Promise<Ended>;
}

function start(name: string, ...words: (string | number)[]): Bot {
  const child = spawn(process.execPath, [`${EXAMPLES}${name}.mjs`, ...words.map(String)]);
  const closed = once(child, "close");
  const ended = async (): Promise<Ended> => {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await closed;
    return { code, stdout, stderr };
  };
  return { stop: () => child.kill("SIGINT"), ended: ended() };
}

/** Seconds of the venue in one of the clock. */
const FAST = 300;
/** Of the clock, on a machine that runs other tests. */
const WHOLE_MS = 900_000;
/** What the grid bot must have said, and paid, at the end. */
const WHOLE = [
  { name: "quiet-hour", mustLose: false, mustPayFunding: false },
  { name: "funding-squeeze", mustLose: true, mustPayFunding: true },
  { name: "restored-funding", mustLose: false, mustPayFunding: true },
  { name: "my-liquidation", mustLose: true, mustPayFunding: false },
] as const;

describe.concurrent("the grid bot, for the whole length of a scenario", () => {
  test.each(WHOLE)("$name", { timeout: WHOLE_MS }, async ({ name, mustLose, mustPayFunding }) => {
    const venue = await startVenue({ start: Date.now(), grant: 10_000 });
    try {
      const bot = start("grid-bot", venue.url, MANY, MANY);
      const trader = async () => (await venue.report()).traders[0];
      await until(async () => ((await trader())?.orders ?? 0) > 0);
      const { time } = venue;
      await venue.setTime({ speed: FAST });
      const scenario = namedScenario(name);
      await venue.play(scenario);
      await venue.setTime("manual");
      if (venue.time < time + scenario.endMs) throw new Error("it has not played at its length");
      bot.stop();
      const { code, stdout, stderr } = await bot.ended;
      if (code !== 0 || stderr !== "") throw new Error(`${stdout}\n${stderr}`);
      const { forcedFills = 0, funding = 0 } = (await trader()) ?? {};
      const said = stdout.includes("the venue closed");
      if (said !== forcedFills > 0) throw new Error(`${forcedFills} forced fills:\n${stdout}`);
      if (mustLose && !said) throw new Error(`it has lost nothing:\n${stdout}`);
      if (mustPayFunding && funding === 0) throw new Error(`no funding:\n${stdout}`);
    } finally {
      await venue.stop();
    }
  });
});

async function isServed(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`).catch(() => undefined);
  return answer?.ok === true;
}

describe.concurrent("bots of the examples", () => {
  test.each(scenarioNames())(
    "%s: both end without an error, and say it if the venue closed their position",
    async (name) => {
      const venue = await startVenue({ time: "real", grant: 10_000 });
      try {
        const bots = [
          start("grid-bot", venue.url, MANY, MANY),
          start("market-maker", venue.url, MANY),
        ];
        await until(async () => {
          const { traders } = await venue.report();
          return traders.filter(({ orders }) => orders > 0).length === bots.length;
        });
        await venue.play(hastened(namedScenario(name)));
        // A restart takes the time that it says, which may be longer than the hastened scenario.
        await until(() => isServed(venue.url));
        // What happens from now on no bot could say.
        venue.setTime("manual");
        for (const bot of bots) bot.stop();
        const ended = await Promise.all(bots.map((bot) => bot.ended));
        const { traders } = await venue.report();
        for (const { code, stdout, stderr } of ended) {
          if (code !== 0 || stderr !== "") throw new Error(`${stdout}\n${stderr}`);
          if (!/orders canceled, position/.test(stdout)) throw new Error(`no end:\n${stdout}`);
        }
        const lost = traders.filter(({ forcedFills }) => forcedFills > 0).length;
        const said = ended.filter(({ stdout }) => stdout.includes("the venue closed")).length;
        if (lost !== said)
          throw new Error(
            `${lost} lost, ${said} said so:\n${ended[0]?.stdout}\n${ended[1]?.stdout}`,
          );
      } finally {
        await venue.stop();
      }
    },
  );
});
