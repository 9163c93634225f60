/** The configuration of the stream, and the checks of what a running one has. */

import { MAX_MESSAGE_BYTES } from "@perpgate/journal";
import type { JsonFields } from "./jetstream-api.js";
import { numberOf } from "./jetstream-api.js";
import { subjectFilter } from "./subjects.js";

const DAY_NS = 86_400e9;
/** Room for the header with the expected sequence. */
const HEADER_BYTES = 128;
const MAX_MSG_BYTES = MAX_MESSAGE_BYTES + HEADER_BYTES;
/** Publishes carry no message ids, so the server has nothing to remember. */
const DUPLICATE_WINDOW_NS = 100e6;
/** The first release of nats-server with what the log needs. */
export const MIN_SERVER = "2.12.3";

export interface StreamOptions {
  readonly stream: string;
  /** 3 by default; 1 for tests and for trying out. */
  readonly replicas?: number;
  /** Publishes are refused beyond it; no limit by default. */
  readonly maxBytes?: number;
  /** At least a day; 0, the default, keeps messages for ever. */
  readonly maxAgeMs?: number;
  /** The first sequence of a new stream, for a mirror that begins later than 1. */
  readonly firstSequence?: number;
}

export function streamConfig(options: StreamOptions): JsonFields {
  const { stream, replicas = 3, maxBytes, maxAgeMs = 0, firstSequence = 1 } = options;
  return {
    name: stream,
    subjects: [subjectFilter(stream)],
    storage: "file",
    retention: "limits",
    discard: "new",
    num_replicas: replicas,
    max_consumers: -1,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_bytes: maxBytes ?? -1,
    max_age: maxAgeMs * 1e6,
    max_msg_size: MAX_MSG_BYTES,
    duplicate_window: DUPLICATE_WINDOW_NS,
    deny_delete: true,
    deny_purge: true,
    allow_direct: true,
    ...(firstSequence > 1 ? { first_seq: firstSequence } : {}),
  };
}

export interface Findings {
  /** The log cannot be used. */
  readonly refused: string[];
  /** It can, with the risk named. */
  readonly warned: string[];
}

type Check = readonly [isMet: boolean, problem: string];

/** One line per problem of the stream's configuration. */
export function checkStream(stream: string, config: JsonFields): Findings {
  const filter = subjectFilter(stream);
  const subjects = Array.isArray(config.subjects) ? config.subjects : [];
  const maxAge = numberOf(config, "max_age");
  const maxSize = numberOf(config, "max_msg_size");
  const replicas = numberOf(config, "num_replicas");
  const limits = ["max_msgs", "max_msgs_per_subject"].map((name) => numberOf(config, name));
  const refusing: Check[] = [
    [subjects.length === 1 && subjects[0] === filter, `its subjects must be "${filter}" alone`],
    [config.storage === "file", "its storage must be file"],
    [config.retention === "limits", "its retention must be limits"],
    [config.discard === "new", "it must discard new messages when full, not old ones"],
    [config.deny_delete === true, "deny_delete must be on"],
    [config.deny_purge === true, "deny_purge must be on"],
    [config.allow_direct === true, "allow_direct must be on"],
    [config.allow_rollup_hdrs !== true, "allow_rollup_hdrs must be off"],
    [config.allow_msg_ttl !== true, "allow_msg_ttl must be off"],
    [config.sealed !== true, "it is sealed"],
    [config.persist_mode !== "async", "persist_mode must not be async"],
    [config.mirror === undefined && config.sources === undefined, "it must have no sources"],
    [config.subject_transform === undefined, "it must have no subject_transform"],
    [limits.every((limit) => limit <= 0), "it must have no limit on the number of messages"],
    [maxAge === 0 || maxAge >= DAY_NS, "max_age must be a day or more, or 0"],
    [maxSize <= 0 || maxSize >= MAX_MSG_BYTES, `max_msg_size must be ${MAX_MSG_BYTES} or more`],
  ];
  const warning: Check[] = [
    [replicas >= 3, `it has ${replicas} replica(s): fewer than 3 do not survive a lost server`],
    [numberOf(config, "max_bytes") > 0, "it has no max_bytes: no alarm before a disk is full"],
  ];
  return { refused: unmet(stream, refusing), warned: unmet(stream, warning) };
}

/** `info`: what the server said when the client connected. */
export function checkServer(
  server: string,
  info: { readonly version: string; readonly max_payload: number },
): Findings {
  const refusing: Check[] = [
    [isAtLeast(info.version, MIN_SERVER), `version ${info.version} is older than ${MIN_SERVER}`],
    [info.max_payload >= MAX_MSG_BYTES, `max_payload must be ${MAX_MSG_BYTES} or more`],
  ];
  const refused = refusing.filter(([isMet]) => !isMet).map(([, problem]) => problem);
  return { refused: refused.map((problem) => `NATS server ${server}: ${problem}`), warned: [] };
}

function unmet(stream: string, checks: readonly Check[]): string[] {
  return checks.filter(([isMet]) => !isMet).map(([, problem]) => `stream ${stream}: ${problem}`);
}

export function isAtLeast(version: string, least: string): boolean {
  const parts = (text: string): number[] => text.split(/[.-]/).slice(0, 3).map(Number);
  const [have, need] = [parts(version), parts(least)];
  for (let index = 0; index < need.length; index++) {
    const difference = (have[index] ?? 0) - (need[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
