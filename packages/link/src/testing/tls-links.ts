/** Cores and edges joined by TLS. */

import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { CoreLink, CoreLinkOptions } from "../core-link.js";
import { EdgeLink } from "../edge-link.js";
import { KnownAddresses } from "../known-addresses.js";
import {
  connectToRemoteCore,
  type LinkIdentity,
  listenForRemoteEdges,
  type RemoteEdge,
  secureContextOf,
} from "../tls-socket.js";
import { newCoreLink, newFolder } from "./socket-links.js";
import { newVenueCertificates } from "./venue-certificates.js";

export const HOST = "127.0.0.1";
export const venue = newVenueCertificates();

export async function startRemoteCore(
  identity = venue.identityOf("server"),
  options: Partial<CoreLinkOptions> = {},
  folder = newFolder(),
) {
  const links: CoreLink[] = [];
  const edges: RemoteEdge[] = [];
  const refused: string[] = [];
  const known = new KnownAddresses(folder, (error) => {
    throw error;
  });
  const listener = await listenForRemoteEdges({ host: HOST, port: 0 }, identity, known, {
    edge: (connectCore, edge) => {
      edges.push(edge);
      links.push(newCoreLink(connectCore, options));
    },
    refused: (_, reason) => refused.push(reason),
  });
  onTestFinished(async () => {
    for (const link of links) link.close();
    await listener.close();
  });
  const place = { host: HOST, port: listener.port };
  return { listener, links, edges, refused, place };
}

export async function linkTo(port: number, identity: LinkIdentity): Promise<EdgeLink> {
  const edge = new EdgeLink(
    await connectToRemoteCore({ host: HOST, port }, secureContextOf(identity)),
  );
  onTestFinished(() => edge.close());
  await edge.ready;
  return edge;
}

/** Also if an error is first. */
export function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once("close", resolve));
}
