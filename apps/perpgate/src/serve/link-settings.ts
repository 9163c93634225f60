/** The links between machines, from the settings: where, and who one is there. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type CoreAddress,
  connectToRemoteCore,
  type LinkIdentity,
  type RoutedCore,
  secureContextOf,
} from "@perpgate/link";
import { reasonOf, StartError } from "../cli/start-error.js";
import type { Settings } from "./settings.js";

type LinkSettings = Pick<Settings, "link">;

/** What a core listens with; undefined if no edge is on another machine. @throws {StartError} */
export function linkListenerOf({
  link,
}: LinkSettings): { readonly place: CoreAddress; readonly identity: LinkIdentity } | undefined {
  const { listen } = link;
  if (listen === undefined) return undefined;
  return { place: placeOf(listen, "link.listen"), identity: linkIdentityOf({ link }) };
}

/** Where the cores of an edge listen. @throws {StartError} */
export function coresOf({ link: { cores = [] } }: LinkSettings): readonly CoreAddress[] {
  return cores.map((core) => placeOf(core, "--core"));
}

/** Those that lead by turns with the core of this machine; undefined if there are none. @throws {StartError} */
export function otherCoresOf(settings: Pick<Settings, "link" | "log">): RemoteCores | undefined {
  const places = coresOf(settings);
  if (settings.log?.cores === undefined || places.length === 0) return undefined;
  return { places, identity: linkIdentityOf(settings) };
}

export interface RemoteCores {
  readonly places: readonly CoreAddress[];
  readonly identity: LinkIdentity;
}

export function routedTo({ places, identity }: RemoteCores): readonly RoutedCore[] {
  const context = secureContextOf(identity);
  return places.map((place) => ({
    name: placeText(place),
    connect: () => connectToRemoteCore(place, context),
  }));
}

/** Refuses what TLS could not use. @throws {StartError} */
export function linkIdentityOf({ link: { tls = {} } }: LinkSettings): LinkIdentity {
  const read = (name: "ca" | "cert" | "key"): string => {
    const path = tls[name];
    if (path === undefined) {
      throw new StartError(`"link.tls.${name}" is missing: perpgate keygen makes certificates`);
    }
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new StartError(`cannot read ${path}: ${reasonOf(error)}`);
    }
  };
  const identity = { ca: read("ca"), cert: read("cert"), key: read("key") };
  try {
    secureContextOf(identity);
  } catch (error) {
    throw new StartError(`"link.tls" cannot be used: ${reasonOf(error)}`);
  }
  return identity;
}

/** The end of the own certificate, or of its authority's if that is sooner. */
export function linkIdentityUntil({ ca, cert }: LinkIdentity): Date {
  const ends = [ca, cert].map((pem) => new X509Certificate(pem).validToDate.getTime());
  return new Date(Math.min(...ends));
}

export function placeText({ host, port }: CoreAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The schema has checked the form. */
function placeOf(text: string, origin: string): CoreAddress {
  const at = text.lastIndexOf(":");
  const port = Number(text.slice(at + 1));
  if (port > 65_535) throw new StartError(`${origin}: ${port} is no port`);
  return { host: text.slice(0, at).replace(/^\[(.*)\]$/, "$1"), port };
}
