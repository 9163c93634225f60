/** Turns what attestors notice into log lines and metrics. */

import { Counter, Gauge, type Registry } from "prom-client";
import type { BridgeEvent, BridgeObserver } from "./bridge-event.js";

/** The part of a logger that is used; pino fits. */
export interface BridgeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function observeBridge(log: BridgeLog, registry: Registry): BridgeObserver {
  const counter = (name: string, help: string): Counter<"chain"> =>
    new Counter({ name, help, labelNames: ["chain"], registers: [registry] });
  const votes = counter("perpgate_bridge_votes_total", "Votes submitted.");
  const failures = counter("perpgate_bridge_endpoint_failures_total", "RPC endpoints that failed.");
  const disagreements = counter(
    "perpgate_bridge_disagreements_total",
    "Deposits that waited because RPC endpoints told different things.",
  );
  const reorgs = counter(
    "perpgate_bridge_reorgs_total",
    "Deposits that lost confirmations before they were credited.",
  );
  const alarms = counter(
    "perpgate_bridge_credited_reorgs_total",
    "ALARM: credited deposits whose transaction left its block.",
  );
  const pending = new Gauge({
    name: "perpgate_bridge_pending_deposits",
    help: "Deposits that the last poll found unsettled.",
    labelNames: ["chain"],
    registers: [registry],
  });
  return (event: BridgeEvent): void => {
    const { kind, chain, ...fields } = event;
    const labels = { chain };
    switch (event.kind) {
      case "Polled":
        votes.inc(labels, event.votes);
        pending.set(labels, event.pending);
        return;
      case "EndpointFailed":
        failures.inc(labels);
        log.warn({ chain, ...fields }, "an RPC endpoint failed");
        return;
      case "EndpointsDisagreed":
        disagreements.inc(labels);
        log.warn({ chain, ...fields }, "RPC endpoints disagree: the deposit waits");
        return;
      case "DepositReorged":
        reorgs.inc(labels);
        log.warn({ chain, ...fields }, "a reorganisation took confirmations from a deposit");
        return;
      case "CreditReorged":
        alarms.inc(labels);
        log.error({ chain, ...fields }, "ALARM: a credited deposit was reorganised away");
        return;
      case "DustFloored":
        log.info(
          { chain, ...fields, units: event.units.toString() },
          "less than a micro-dollar was left out",
        );
        return;
      case "VoteRefused":
        log.warn({ chain, ...fields }, "the engine refused a vote");
        return;
      case "PollFailed":
        log.error({ chain, err: event.error }, "a poll failed");
        return;
      default:
        throw new TypeError(`unknown event ${String(kind)}`);
    }
  };
}
