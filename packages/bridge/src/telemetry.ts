/** Log lines and metrics for the events of attestors. */

import { Counter, Gauge, type Registry } from "prom-client";
import type { BridgeEvent, BridgeObserver } from "./bridge-event.js";

/** The part of a logger that is used; pino fits. */
interface BridgeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Repeated messages are logged once in this time. */
const REPEAT_MS = 60_000;

/** `chains`: those that the attestors watch. */
export function observeBridge(
  log: BridgeLog,
  registry: Registry,
  chains: readonly string[],
  clock: () => number = Date.now,
): BridgeObserver {
  const metrics = bridgeMetrics(registry, chains);
  const quiet = new RepeatFilter(clock);
  // Apart, because a successful poll ends the other repetitions.
  const disagreements = new RepeatFilter(clock);
  const failures = new RepeatFilter(clock);
  const polls = {
    deposits: quiet,
    withdrawals: new RepeatFilter(clock),
    requests: new RepeatFilter(clock),
  };
  return (event: BridgeEvent): void => {
    const { kind, chain, ...fields } = event;
    metrics(event, clock());
    switch (event.kind) {
      case "Polled":
        if (!event.isHeadOld) quiet.forget(event);
        else if (!quiet.isRepeated(event, "old head")) {
          log.warn({ chain, ...fields }, "the newest block of enough RPC endpoints is old");
        }
        return;
      case "EndpointFailed":
        log.warn({ chain, ...fields }, "an RPC endpoint failed");
        return;
      case "EndpointStale":
        log.warn({ chain, ...fields }, "an RPC endpoint is behind the others and is ignored");
        return;
      case "EndpointsDisagreed":
        // Which endpoints, and in which order, changes from poll to poll.
        if (disagreements.isRepeated(event, "disagreed")) return;
        log.warn({ chain, ...fields }, "RPC endpoints disagree");
        return;
      case "ConfigurationDiffers":
        if (quiet.isRepeated(event, event.difference)) return;
        log.error({ chain, ...fields }, "the configuration differs from the venue's: no votes");
        return;
      case "DepositReorged":
        log.warn({ chain, ...fields }, "a deposit lost confirmations in a reorganisation");
        return;
      case "CreditReorged":
        log.error({ chain, ...fields }, "ALARM: a credited deposit was reorganised away");
        return;
      case "DustFloored": {
        const units = event.units.toString();
        log.info({ chain, ...fields, units }, "a remainder below a micro-dollar was not credited");
        return;
      }
      case "VoteRefused":
        log.warn({ chain, ...fields }, "the venue refused a vote");
        return;
      case "SubmitFailed":
        log.error(
          { chain, ...fields, error: messageOf(event.error) },
          "a vote could not be submitted",
        );
        return;
      case "DepositFailed": {
        const { depositId, retryAtMs, error } = event;
        log.error({ chain, depositId, retryAtMs, err: error }, "a deposit could not be judged");
        return;
      }
      case "WithdrawalFailed":
        if (event.isAlarm) {
          log.error({ chain, ...fields }, "ALARM: the vault has a payment that the log has not");
        } else if (!failures.isRepeated({ attestor: event.withdrawalId, chain }, event.reason)) {
          log.warn({ chain, ...fields }, "a withdrawal was not judged or not signed");
        }
        return;
      case "WithdrawalVoted":
        if (event.reason === null) log.info({ chain, ...fields }, "voted on a withdrawal");
        else log.warn({ chain, ...fields }, "the venue refused a vote on a withdrawal");
        return;
      case "VaultChanges":
        log.error({ chain, ...fields }, "the vault is locked, or a change of it was proposed");
        return;
      case "HoldingsNotStated":
        if (failures.isRepeated({ attestor: HOLDINGS, chain }, event.reason)) return;
        log.warn({ chain, ...fields }, "what the vault holds was not stated");
        return;
      case "PollFailed":
        reportPollFailure(log, polls[event.of], event);
        return;
      case "WithdrawalsPolled":
        polls[event.of].forget(event);
        return;
      default:
        throw new TypeError(`unknown event ${String(kind)}`);
    }
  };
}

/** In place of a withdrawal's id, which is never 0. */
const HOLDINGS = 0;
const EXPECTED_FAILURES = ["VenueUnreachable", "TooFewEndpoints"];

/** Without a stack if the venue or the endpoints are unreachable. */
function reportPollFailure(
  log: BridgeLog,
  quiet: RepeatFilter,
  event: Extract<BridgeEvent, { kind: "PollFailed" }>,
): void {
  const { chain, attestor, of, error } = event;
  const isExpected = error instanceof Error && EXPECTED_FAILURES.includes(error.name);
  if (!isExpected) {
    log.error({ chain, attestor, of, err: error }, "a poll failed");
    return;
  }
  if (quiet.isRepeated(event, error.message)) return;
  log.warn({ chain, attestor, of, reason: error.message }, "a poll failed; polling continues");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An attestor on one of its chains. */
interface Source {
  readonly attestor: number;
  readonly chain: string;
}

/** Suppresses repetitions of the last message of each source. */
class RepeatFilter {
  private readonly last = new Map<string, { readonly text: string; readonly atMs: number }>();

  constructor(private readonly clock: () => number) {}

  isRepeated(source: Source, text: string): boolean {
    const nowMs = this.clock();
    const key = keyOf(source);
    const last = this.last.get(key);
    if (last?.text === text && nowMs - last.atMs < REPEAT_MS) return true;
    this.last.set(key, { text, atMs: nowMs });
    return false;
  }

  forget(source: Source): void {
    this.last.delete(keyOf(source));
  }
}

function keyOf({ attestor, chain }: Source): string {
  return `${attestor} ${chain}`;
}

function bridgeMetrics(
  registry: Registry,
  chains: readonly string[],
): (event: BridgeEvent, nowMs: number) => void {
  const registers = [registry];
  const labelNames = ["chain"] as const;
  /** Every chain has a value from the start, since an alert does not see a counter's first one. */
  const counter = (name: string, help: string): Counter<"chain"> => {
    const made = new Counter({ name, help, labelNames, registers });
    for (const chain of chains) made.inc({ chain }, 0);
    return made;
  };
  const gauge = (name: string, help: string): Gauge<"chain"> =>
    new Gauge({ name, help, labelNames, registers });
  const counters: Partial<Record<BridgeEvent["kind"], Counter<"chain">>> = {
    Polled: counter("perpgate_bridge_polls_total", "Successful polls."),
    PollFailed: counter("perpgate_bridge_poll_failures_total", "Polls that failed."),
    SubmitFailed: counter(
      "perpgate_bridge_submit_failures_total",
      "Votes that could not be submitted; each is retried alone.",
    ),
    VoteRefused: counter("perpgate_bridge_votes_refused_total", "Votes that the venue refused."),
    DepositFailed: counter(
      "perpgate_bridge_deposit_failures_total",
      "Deposits that could not be judged; others are not affected.",
    ),
    EndpointFailed: counter(
      "perpgate_bridge_endpoint_failures_total",
      "RPC endpoints that failed.",
    ),
    EndpointStale: counter(
      "perpgate_bridge_stale_endpoints_total",
      "RPC endpoints that were ignored because their head is behind.",
    ),
    EndpointsDisagreed: counter(
      "perpgate_bridge_disagreements_total",
      "Polls in which RPC endpoints disagreed on deposits.",
    ),
    DepositReorged: counter(
      "perpgate_bridge_reorgs_total",
      "Deposits that lost confirmations before they were credited.",
    ),
    WithdrawalFailed: counter(
      "perpgate_bridge_withdrawal_failures_total",
      "Times that a withdrawal was not judged or not signed.",
    ),
    VaultChanges: counter(
      "perpgate_bridge_vault_changes_total",
      "Locks of the vault, and proposals to unlock it or to change its keys or caps.",
    ),
    HoldingsNotStated: counter(
      "perpgate_bridge_holdings_not_stated_total",
      "Times that what the vault holds was not stated.",
    ),
    CreditReorged: counter(
      "perpgate_bridge_credited_reorgs_total",
      "ALARM: credited deposits whose transaction left its block.",
    ),
  };
  const otherPayments = counter(
    "perpgate_bridge_other_payments_total",
    "ALARM: the vault has a payment under an id for which the log has another, or none.",
  );
  const withdrawalVotes = counter(
    "perpgate_bridge_withdrawal_votes_total",
    "Votes on withdrawals that the venue accepted.",
  );
  const votes = counter("perpgate_bridge_votes_total", "Votes that the venue accepted.");
  const pending = gauge(
    "perpgate_bridge_pending_deposits",
    "Deposits that the last poll looked up on the chain.",
  );
  const endpoints = gauge(
    "perpgate_bridge_endpoints",
    "RPC endpoints that responded to the last poll; unchanged by a poll without deposits.",
  );
  const headAge = gauge(
    "perpgate_bridge_head_age_seconds",
    "Age of the newest block that enough RPC endpoints have; unchanged by a poll without deposits.",
  );
  const lastPoll = gauge(
    "perpgate_bridge_last_poll_timestamp_seconds",
    "End of the last successful poll, Unix seconds.",
  );
  const perAttestor = (name: string, help: string): Gauge<"chain" | "attestor"> =>
    new Gauge({ name, help, labelNames: ["chain", "attestor"], registers });
  const headOld = perAttestor(
    "perpgate_bridge_head_old",
    "1 while the newest block that enough RPC endpoints have is older than maxHeadAgeMs.",
  );
  const differs = perAttestor(
    "perpgate_bridge_configuration_differs",
    "1 while the configuration differs from the venue's, so that the attestor does not vote.",
  );
  return (event, nowMs) => {
    const { chain } = event;
    counters[event.kind]?.inc({ chain });
    if (event.kind === "WithdrawalFailed" && event.isAlarm) otherPayments.inc({ chain });
    if (event.kind === "WithdrawalVoted" && event.reason === null) withdrawalVotes.inc({ chain });
    if (event.kind === "ConfigurationDiffers") differs.set({ chain, attestor: event.attestor }, 1);
    if (event.kind !== "Polled") return;
    const { attestor, isHeadOld } = event;
    differs.set({ chain, attestor }, 0);
    headOld.set({ chain, attestor }, isHeadOld ? 1 : 0);
    votes.inc({ chain }, event.votes);
    pending.set({ chain }, event.pending);
    if (!event.isIdle) endpoints.set({ chain }, event.endpoints);
    if (event.headAgeMs !== null) headAge.set({ chain }, event.headAgeMs / 1_000);
    lastPoll.set({ chain }, nowMs / 1_000);
  };
}
