/** Readiness, status and metrics of a gateway of a replicated log. */

import { gauged } from "@perpgate/gateway/metrics";
import type { ReadinessProbe } from "@perpgate/link";
import type { ClusterStatus } from "@perpgate/protocol";
import { MAX_LAG_MS, type Venue } from "@perpgate/venue";
import type { Registry } from "prom-client";
import type { ClusterLink } from "./log-access.js";

/** For messages that the stream has and this gateway does not, and for batches that the log does not take. */
const MOST_LAG_MS = 2_000;
/** While a batch has waited for longer, the log's time stands still: the clock is not what is wrong. */
const LATE_BATCH_MS = 500;

export function clusterProbe(
  venue: Pick<Venue, "isStandby" | "isWriting" | "joinRefusal" | "logLeadMs">,
  link: Pick<ClusterLink, "status">,
): ReadinessProbe {
  return {
    name: "cluster",
    notReadyReason: () => {
      const status = link.status();
      if (!venue.isWriting && !venue.isStandby) return joiningReason(venue, status);
      if (status !== undefined && status.lagMs > MOST_LAG_MS) {
        return `the log is ${status.streamLastSeq - status.lastSeq} messages ahead of this gateway`;
      }
      if (status?.refusal !== undefined) return refusedReason(status.refusal);
      const leadMs = venue.logLeadMs;
      const waitedMs = status?.waitedMs ?? 0;
      const isStalled = leadMs > MAX_LAG_MS && waitedMs > LATE_BATCH_MS;
      if (isStalled || waitedMs > MOST_LAG_MS) {
        if (status?.server === "") return UNCONNECTED;
        return `a batch of this gateway has waited for the log for ${Math.round(waitedMs / 1_000)} s`;
      }
      if (Math.abs(leadMs) <= MAX_LAG_MS) return undefined;
      const seconds = Math.abs(Math.round(leadMs / 1_000));
      const side = leadMs > 0 ? "ahead of" : "behind";
      return `the clock of this gateway is ${seconds} s ${side} the time that the majority has`;
    },
  };
}

/** Anyone may read it: addresses, files and what a server answered are in the log alone. */
const UNCONNECTED = "no NATS server is connected; the log of this gateway says why";

function joiningReason(
  { joinRefusal }: Pick<Venue, "joinRefusal">,
  status: LinkStatus | undefined,
): string {
  if (joinRefusal !== "") return `the log refuses this gateway's join: ${joinRefusal}`;
  if (status?.server === "") return UNCONNECTED;
  if (status?.refusal !== undefined) return refusedReason(status.refusal);
  return "this gateway joins the log";
}

function refusedReason({ description }: { readonly description: string }): string {
  return `the log refuses messages: ${description}`;
}

export function clusterStatusOf(
  name: string,
  venue: Venue,
  link: ClusterLink,
): ClusterStatus | undefined {
  const status = link.status();
  if (status === undefined) return undefined;
  const { stream, writers } = status;
  return {
    gateway: name,
    writers: [...venue.writers],
    lagMessages: Math.max(0, status.streamLastSeq - status.lastSeq),
    lagMs: Math.round(status.lagMs),
    clockLeadMs: Math.round(venue.logLeadMs),
    server: status.server,
    leader: stream?.leader ?? "",
    replicasCurrent: replicasCurrent(stream),
    dropped: { malformed: status.malformed, chain: status.chainDrops },
    disagreeing: writers.filter(({ agrees }) => !agrees).length,
  };
}

interface ClusterGauge {
  readonly name: string;
  readonly help: string;
  read(venue: Venue, status: LinkStatus | undefined): number;
}

type LinkStatus = NonNullable<ReturnType<ClusterLink["status"]>>;

/** Every metric of a gateway of a replicated log. */
export const CLUSTER_GAUGES: readonly ClusterGauge[] = [
  gauge("writers", "Live gateways of the log.", ({ writers }) => writers.length),
  gauge("is_writing", "1 while this gateway is one of them.", ({ isWriting }) => {
    return isWriting ? 1 : 0;
  }),
  gauge("lag_messages", "Messages of the stream that are not applied here.", (_venue, now) => {
    return now === undefined ? 0 : Math.max(0, now.streamLastSeq - now.lastSeq);
  }),
  gauge("lag_seconds", "For how long such messages have been known.", (_venue, now) => {
    return (now?.lagMs ?? 0) / 1_000;
  }),
  gauge(
    "clock_lead_seconds",
    "How far this gateway's clock is ahead of the log's time.",
    ({ logLeadMs }) => logLeadMs / 1_000,
  ),
  gauge("wait_seconds", "How long the batch in flight has waited for the log.", (_venue, now) => {
    return (now?.waitedMs ?? 0) / 1_000;
  }),
  gauge("stream_sequence", "Last message of the stream that is applied here.", (_venue, now) => {
    return now?.lastSeq ?? 0;
  }),
  gauge("stream_bytes", "Size of the stream.", (_venue, now) => now?.stream?.bytes ?? 0),
  gauge("stream_limit_bytes", "Its limit; 0: none.", (_venue, now) => now?.stream?.maxBytes ?? 0),
  gauge(
    "replicas_current",
    "Servers that have all of the stream, its leader included.",
    (_venue, now) => replicasCurrent(now?.stream),
  ),
  gauge(
    "dropped_messages",
    "Messages that were dropped as malformed or by the chain.",
    (_venue, now) => (now === undefined ? 0 : now.malformed + now.chainDrops),
  ),
  gauge("disagreeing_writers", "Writers heard in 5 s whose log or blocks differ.", (_, now) => {
    return now?.writers.filter(({ agrees }) => !agrees).length ?? 0;
  }),
  gauge("republished_batches", "Batches that were published again.", (_venue, now) => {
    return now?.republished ?? 0;
  }),
  gauge("reconnects", "Connections made to servers after the first.", (_venue, now) => {
    return now?.reconnects ?? 0;
  }),
];

/** Servers that have all of the stream: its leader, if there is one, and those that follow it. */
export function replicasCurrent(stream: LinkStatus["stream"]): number {
  if (stream === undefined) return 0;
  const { leader, replicas } = stream;
  return (leader === "" ? 0 : 1) + replicas.filter(({ isCurrent }) => isCurrent).length;
}

function gauge(name: string, help: string, read: ClusterGauge["read"]): ClusterGauge {
  return { name: `perpgate_cluster_${name}`, help, read };
}

export function measureCluster(registry: Registry, venue: Venue, link: ClusterLink): void {
  for (const { name, help, read } of CLUSTER_GAUGES) {
    gauged(registry, name, help, () => read(venue, link.status()));
  }
}
