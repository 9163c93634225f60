/** Readiness, status and metrics of a core of a replicated log. */

import type { LogStatus } from "@perpgate/cluster";
import { gauged } from "@perpgate/gateway/metrics";
import type { ReadinessProbe } from "@perpgate/link";
import type { ClusterCore, ClusterStatus } from "@perpgate/protocol";
import { MAX_LAG_MS, type Venue } from "@perpgate/venue";
import type { Registry } from "prom-client";
import type { ClusterLink } from "./log-access.js";

/** For messages that the stream has and this gateway does not, and for batches that the log does not take. */
const MOST_LAG_MS = 2_000;
/** While a batch has waited for longer, the log's time stands still: the clock is not what is wrong. */
const LATE_BATCH_MS = 500;

export function clusterProbe(
  venue: Pick<Venue, "logLeadMs">,
  link: Pick<ClusterLink, "status">,
): ReadinessProbe {
  return {
    name: "cluster",
    notReadyReason: () => {
      const status = link.status();
      if (status !== undefined && status.lagMs > MOST_LAG_MS) {
        return `the log is ${status.streamLastSeq - status.lastSeq} messages ahead of this gateway`;
      }
      const otherLog = status?.otherChain ?? "";
      if (otherLog !== "") return otherLog;
      if (status !== undefined && status.refusal !== "") {
        return `the log refuses messages: ${status.refusal}`;
      }
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
      return `the clock of this gateway is ${seconds} s ${side} the time of the log`;
    },
  };
}

/** Anyone may read it: addresses, files and what a server answered are in the log alone. */
const UNCONNECTED = "no NATS server is connected; the log of this gateway says why";

export function clusterStatusOf(
  name: string,
  venue: Pick<Venue, "logLeadMs">,
  link: Pick<ClusterLink, "cores" | "status">,
): ClusterStatus | undefined {
  const status = link.status();
  if (status === undefined) return undefined;
  const { stream } = status;
  return {
    gateway: name,
    cores: coresOf(link.cores, status),
    lagMessages: Math.max(0, status.streamLastSeq - status.lastSeq),
    lagMs: Math.round(status.lagMs),
    clockLeadMs: Math.round(venue.logLeadMs),
    server: status.server,
    leader: stream?.leader ?? "",
    replicasCurrent: replicasCurrent(stream),
  };
}

/** In the order in which they take over. */
function coresOf(names: readonly string[], { cores }: LogStatus): ClusterCore[] {
  return names.map((name) => {
    const heard = cores.find(({ heartbeat }) => heartbeat.core === name);
    if (heard === undefined) return { name, state: "silent" };
    const { epoch, leads, sequence, server, release } = heard.heartbeat;
    const state = leads ? "leads" : "standby";
    const clockAheadMs = Math.round(heard.aheadMs);
    return { name, state, epoch, sequence, clockAheadMs, server, release };
  });
}

interface ClusterGauge {
  readonly name: string;
  readonly help: string;
  read(venue: Venue, status: LogStatus | undefined, link: Pick<ClusterLink, "cores">): number;
}

/** Every metric of a core of a replicated log. */
export const CLUSTER_GAUGES: readonly ClusterGauge[] = [
  gauge("is_leading", "1 while this core leads.", ({ isLeading }) => (isLeading ? 1 : 0)),
  gauge("epoch", "Which lead of the log this core has applied last.", ({ epoch }) => epoch),
  gauge(
    "silent_cores",
    "Cores of the configuration that were not heard in 5 s.",
    (_venue, now, { cores }) => {
      if (now === undefined) return 0;
      return coresOf(cores, now).filter(({ state }) => state === "silent").length;
    },
  ),
  gauge("other_log", "1 while another core has another log than this one.", (_venue, now) => {
    return (now?.otherChain ?? "") === "" ? 0 : 1;
  }),
  gauge("clock_wrong", "1 while this core's clock is 2 s from those of the others.", (_, now) => {
    return now?.isClockWrong === true ? 1 : 0;
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
  gauge("reconnects", "Connections made to servers after the first.", (_venue, now) => {
    return now?.reconnects ?? 0;
  }),
];

/** Servers that have all of the stream: its leader, if there is one, and those that follow it. */
export function replicasCurrent(stream: LogStatus["stream"]): number {
  if (stream === undefined) return 0;
  const { leader, replicas } = stream;
  return (leader === "" ? 0 : 1) + replicas.filter(({ isCurrent }) => isCurrent).length;
}

function gauge(name: string, help: string, read: ClusterGauge["read"]): ClusterGauge {
  return { name: `perpgate_cluster_${name}`, help, read };
}

export function measureCluster(registry: Registry, venue: Venue, link: ClusterLink): void {
  for (const { name, help, read } of CLUSTER_GAUGES) {
    gauged(registry, name, help, () => read(venue, link.status(), link));
  }
}
