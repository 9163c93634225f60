/** What is checked when the log is opened: the servers, the stream, and the mirror against it. */

import { askServers } from "./ask.js";
import { CHAIN_START, nextLink } from "./chain.js";
import { ClusterError, textOf } from "./errors.js";
import {
  fieldsOf,
  isFields,
  lastMessage,
  type StreamFigures,
  storedMessage,
  streamState,
} from "./jetstream-api.js";
import { BELOW_MS } from "./leader-watch.js";
import type { Link, Logger } from "./link.js";
import { checkServer, checkStream, type Findings } from "./stream-config.js";
import { startsLater } from "./stream-watch.js";

const RETRY_PAUSE_MS = 100;

/** Refuses what the log cannot work with, in one line each; warns of the rest. */
export async function checkSetup(
  link: Link,
  stream: string,
  { config }: StreamFigures,
  monitors: readonly string[],
  logger: Logger,
): Promise<void> {
  const info = link.connection?.info;
  const findings = [
    info === undefined ? { refused: [], warned: [] } : checkServer(link.server, info),
    checkStream(stream, config),
    await checkSync(monitors),
  ];
  for (const text of findings.flatMap(({ warned }) => warned)) logger.warn(text);
  const refused = findings.flatMap(({ refused }) => refused);
  if (refused.length > 0) throw new ClusterError("unsuitable", refused.join("; "));
}

/**
 * Compares the message at the mirror's end with the stream's, by content. `tail` ends with c(end). Returns a
 * state of the stream in which that end lies.
 */
export async function checkMirror(
  link: Link,
  stream: string,
  end: number,
  tail: readonly Uint8Array[],
  withinMs: number,
): Promise<StreamFigures> {
  const state = await stateReaching(link, stream, end, withinMs);
  if (state.lastSeq > 0 && state.firstSeq > end + 1) throw startsLater(state.firstSeq, end);
  if (end === 0 || state.firstSeq > end) return state;
  const stored = await askServers(link, withinMs, (connection) =>
    storedMessage(connection, stream, end),
  );
  const previous = end === 1 ? CHAIN_START : tail.at(-2);
  const own = tail.at(-1);
  if (previous === undefined || own === undefined) {
    throw new ClusterError("failed", `the mirror lacks the chain at sequence ${end - 1}`);
  }
  if (stored === undefined) throw differs(end, "the stream does not hold it");
  const theirs = nextLink(previous, stored.subject, stored.data);
  if (Buffer.compare(theirs, own) !== 0) throw differs(end, "the stream has another one");
  return state;
}

/** A new leader may not have applied everything yet: waits before it says that messages are lost. */
async function stateReaching(
  link: Link,
  stream: string,
  end: number,
  withinMs: number,
): Promise<StreamFigures> {
  const began = performance.now();
  const asked = new Set<string>();
  for (;;) {
    const state = await askServers(link, withinMs, (connection) => streamState(connection, stream));
    if (state.lastSeq >= end) return state;
    // Any server may describe the stream; only its leader knows the end.
    const last = await askServers(link, withinMs, (connection) => lastMessage(connection, stream));
    if ((last?.sequence ?? 0) >= end) return { ...state, lastSeq: last?.sequence ?? 0 };
    asked.add(link.server);
    const isLate = performance.now() - began > BELOW_MS;
    if (isLate && asked.size < Math.min(2, link.servers)) {
      link.move("the stream ends below the mirror, as its leader says through it");
    } else if (isLate) {
      const text = `the stream ends at sequence ${state.lastSeq}, but this gateway's mirror at ${end}`;
      throw new ClusterError(
        "diverged",
        `${text}: messages were lost; stop all gateways and run \`perpgate cluster reseed\``,
        { sequence: state.lastSeq },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}

function differs(sequence: number, how: string): ClusterError {
  return new ClusterError(
    "diverged",
    `the message at sequence ${sequence}, the end of this gateway's mirror, is not the stream's: ` +
      `${how}; compare the mirrors before you run \`perpgate cluster reseed\``,
    { sequence },
  );
}

const PAGE_MS = 2000;

/**
 * Whether the servers sync every write. Clients cannot see that; the servers' monitoring pages show
 * it, where they are enabled and their addresses are given.
 */
export async function checkSync(monitors: readonly string[]): Promise<Findings> {
  if (monitors.length === 0) {
    const text = "the servers' sync_interval is not visible to clients: make sure it is `always`";
    return { refused: [], warned: [text] };
  }
  const findings: Findings = { refused: [], warned: [] };
  await Promise.all(monitors.map((monitor) => checkOne(monitor, findings)));
  return findings;
}

async function checkOne(monitor: string, { refused, warned }: Findings): Promise<void> {
  try {
    const response = await fetch(`${monitor}/varz`, { signal: AbortSignal.timeout(PAGE_MS) });
    const page: unknown = await response.json();
    const config = fieldsOf(fieldsOf(isFields(page) ? page : {}, "jetstream"), "config");
    if (config.sync_always !== true) {
      refused.push(`the server at ${monitor} must have sync_interval: always`);
    }
  } catch (error) {
    warned.push(`cannot see sync_interval of the server at ${monitor}: ${textOf(error)}`);
  }
}
