/** What a venue appends to its log before it serves: its beginning, or what has changed since. */
import {
  type Command,
  type Configure,
  ENGINE_VERSION,
  GENESIS_WRITER,
  MAX_LEAD_MS,
  TICK_MS,
  type VenueConfig,
} from "@perpgate/engine";
import type { VenueState } from "@perpgate/engine/reading";
import { cohortCommands, OPERATOR_EXPIRY_MS } from "./cohort-commands.js";
import { refusalIn } from "./event-fields.js";
import { movedChains, replacedAttestors } from "./listing/attestor-keys.js";
import { isSameConfig } from "./listing/config-change.js";
import { type Listing, listingEvidence } from "./listing/listing.js";
import { encodeRecord, NO_EVIDENCE } from "./record/record.js";
import type { ReplicaState } from "./recovery/replica-state.js";
import type { SequencedLog, Sequencer } from "./sequencer.js";
import type { Submissions } from "./submissions.js";
import { ConfigRefused } from "./venue-errors.js";
import { SILENT, type VenueOptions } from "./venue-options.js";

/** Ids of open withdrawals in one line. */
const NAMED_IDS = 5;

/** What the log records of a venue's configuration. */
export type VenueConfiguration = Pick<VenueOptions, "config" | "listing" | "attestors">;
type Beginning = VenueConfiguration & Pick<VenueOptions, "cohort">;

/** The record of the command that begins a log. */
export function genesisRecord(options: Beginning, stampMs: number): Uint8Array {
  const { config, listing, cohort, attestors = null } = options;
  const genesis: Command = {
    kind: "Genesis",
    stampMs,
    config,
    cohort,
    engineVersion: ENGINE_VERSION,
  };
  return encodeRecord(genesis, listingEvidence(listing, attestors));
}

/**
 * The beginning of a venue whose log has one writer: Genesis on an empty log; then this process joins,
 * asks for the time if the log is behind, and appends the configuration if it has changed.
 */
export async function beginAlone(
  options: VenueOptions,
  log: SequencedLog,
  { engine, listing }: ReplicaState,
  sequencer: Sequencer,
  stampMs: number,
): Promise<void> {
  if (engine.state.config === null) {
    await log.append({ writer: GENESIS_WRITER, counter: 0 }, [genesisRecord(options, stampMs)]);
  }
  await sequencer.join();
  if (stampMs - engine.state.lastTickMs > MAX_LEAD_MS) {
    await sequencer.submitted({ kind: "AskTime", stampMs }, NO_EVIDENCE, () => undefined);
  }
  await submitConfiguration(options, { engine, listing }, sequencer, stampMs);
  await beginList(options, engine.state, sequencer, stampMs);
}

/** A replicated log has its Genesis of `cluster init`, and its own configuration, which is in force. */
export function refuseUnbegun(
  { config, listing: markets, attestors = null, logger = SILENT }: VenueOptions,
  { engine, listing }: ReplicaState,
): void {
  const current = engine.state.config;
  if (current === null) {
    throw new ConfigRefused("log_not_begun", "the log is empty: `perpgate cluster init` begins it");
  }
  if (!isSameConfig({ config: current, listing }, config, markets, attestors)) {
    logger.warn(
      {},
      "the configuration file differs from the log's, which is in force: `perpgate configure` appends it",
    );
  }
}

/** Appends the configuration if it differs from the log's. @throws {ConfigRefused} */
export async function submitConfiguration(
  { config, listing: markets, attestors = null }: VenueConfiguration,
  { engine, listing }: Pick<ReplicaState, "engine" | "listing">,
  sequencer: Submissions,
  stampMs: number,
): Promise<void> {
  const isTaken = () => {
    const current = engine.state.config;
    return (
      current !== null && isSameConfig({ config: current, listing }, config, markets, attestors)
    );
  };
  if (isTaken()) return;
  refuseEarlyWithdrawals(engine.state, listing, config);
  const replaced = replacedAttestors(listing.attestors, attestors);
  const moved = engine.state.rules.hasWithdrawals ? movedChains(listing.attestors, attestors) : [];
  const command: Command = {
    kind: "Configure",
    stampMs,
    expiresAtMs: stampMs + OPERATOR_EXPIRY_MS,
    config,
    ...(replaced.length === 0 ? {} : { replacedAttestors: replaced }),
    ...(moved.length === 0 ? {} : { movedChains: moved }),
  };
  const evidence = listingEvidence(markets, attestors);
  const refusal = await sequencer.submitted(command, evidence, ({ events }) => refusalIn(events));
  if (isTaken()) return;
  throw refusal === "withdrawals_open"
    ? withdrawalsOpen(engine.state, command)
    : new ConfigRefused("configuration_invalid", refusalText(refusal));
}

/**
 * A sign-in under version 2 does not say whether a contract confirmed it, and on which chain: the address of a
 * contract may be another's elsewhere. So nobody is paid while a session of such a sign-in is live.
 */
function refuseEarlyWithdrawals(
  { config: current, sessions, timeMs }: VenueState,
  { upgradedAt }: Listing,
  { withdrawals }: VenueConfig,
): void {
  if (withdrawals === undefined || current?.withdrawals !== undefined) return;
  const old = sessions
    .all()
    .filter(({ number, expiresAtMs }) => number < upgradedAt && expiresAtMs > timeMs);
  if (old.length === 0) return;
  const lastMs = Math.max(...old.map(({ expiresAtMs }) => expiresAtMs));
  throw new ConfigRefused(
    "withdrawals_too_early",
    `withdrawals cannot be turned on yet: ${old.length} sessions are live that were opened before the upgrade ` +
      `and say nothing of a contract's chain; the last one ends at ${new Date(lastMs).toISOString()}`,
  );
}

function withdrawalsOpen({ withdrawals }: VenueState, { movedChains, config }: Configure): Error {
  const isUnderQuorum = config.attestorQuorum < 2;
  const open = withdrawals
    .sorted()
    .filter(({ chain }) => isUnderQuorum || movedChains?.includes(chain));
  const names = [...new Set(open.map(({ chain }) => chain))].join(" and ");
  const ids = open.slice(0, NAMED_IDS).map(({ id }) => id);
  const rest = open.length > ids.length ? `, and ${open.length - ids.length} more` : "";
  const what = isUnderQuorum
    ? "lowers the attestors' quorum below 2"
    : "changes or removes the vault, the chain id or a token's contract";
  return new ConfigRefused(
    "withdrawals_open",
    `the configuration ${what} while withdrawals on ${names} are open (${ids.join(", ")}${rest}), which could ` +
      `be paid twice; leave ${names} out of bridge.withdrawals.maxUnpaid, configure that, wait until none is ` +
      "open, then configure this",
  );
}

function refusalText(refusal: string): string {
  return refusal === "operator_rate_limit"
    ? "ten operator commands, starts with a new configuration included, were executed within the " +
        "last minute; wait a minute, or start with the configuration of before"
    : `the engine refused the configuration ${refusal}`.trimEnd();
}

/**
 * Submits the configured allowlist of a new venue. A long list needs several commands, and a crash
 * can come between any two. So until the first block is sealed every start submits the whole list
 * again and removes addresses that an earlier start left behind; then it seals the first block. After
 * that only operator commands change the list.
 */
async function beginList(
  { cohort: stage, allow }: VenueOptions,
  state: VenueState,
  sequencer: Sequencer,
  stampMs: number,
): Promise<void> {
  if (allow === undefined || state.totals.block > 1) return;
  const wanted = new Set(allow);
  const disallow = [...state.allowlist].filter((address) => !wanted.has(address));
  if (wanted.size > 0 || disallow.length > 0) {
    for (const command of cohortCommands({ stage, allow, disallow }, stampMs)) {
      await sequencer.submitted(command, NO_EVIDENCE, () => undefined);
    }
  }
  const slot = Math.floor(state.timeMs / TICK_MS) + 1;
  await sequencer.submitted({ kind: "Tick", slot }, NO_EVIDENCE, () => undefined);
}
