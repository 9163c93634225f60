/** The places of `cluster up`: which servers and gateways run where. */

import { join } from "node:path";
import type { NatsPlace } from "./nats-server.js";

export interface GatewayPlace {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly url: string;
  /** Where its core listens for the edges of the other gateways. */
  readonly link: string;
}

export interface ClusterPlan {
  readonly servers: readonly NatsPlace[];
  readonly gateways: readonly GatewayPlace[];
  /** For `--log`. */
  readonly log: string;
}

const MEMBERS = [1, 2, 3] as const;
/** Between a server's port for clients and its port for other servers. */
const ROUTE_OFFSET = 2_000;

export function planCluster(folder: string, port: number, natsPort: number): ClusterPlan {
  const portOf = (member: number) => natsPort + member - 1;
  const routes = MEMBERS.map((member) => `nats://127.0.0.1:${portOf(member) + ROUTE_OFFSET}`);
  return {
    log: MEMBERS.map((member) => `nats://127.0.0.1:${portOf(member)}`).join(","),
    servers: MEMBERS.map((member) => ({
      name: `nats-${member}`,
      folder: join(folder, `nats-${member}`),
      port: portOf(member),
      clusterPort: portOf(member) + ROUTE_OFFSET,
      routes,
    })),
    gateways: MEMBERS.map((member) => ({
      name: `gateway-${member}`,
      folder: join(folder, `gateway-${member}`),
      port: port + member - 1,
      url: `http://127.0.0.1:${port + member - 1}`,
      link: `127.0.0.1:${port + MEMBERS.length + member - 1}`,
    })),
  };
}
