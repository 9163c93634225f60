/** How the settings reach the replicated log, and the venue's opening of it. */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import {
  type Access,
  type CoreLogStatus,
  FencedLog,
  type LogStatus,
  ReplicatedLog,
  type StreamStatus,
} from "@perpgate/cluster";
import type { OpenCoreLog, OpenStream, VenueLogger } from "@perpgate/venue";
import { reasonOf, StartError } from "../cli/start-error.js";
import type { Settings } from "../serve/settings.js";
import { readVersion } from "../version.js";

export type LogSettings = NonNullable<Settings["log"]>;

const DEFAULT_STREAM = "perpgate";

/** The settings' log; throws without one. */
export function logSettingsOf({ log }: Pick<Settings, "log">): LogSettings {
  if (log !== undefined) return log;
  throw new StartError("no log is given: --log nats://HOST:4222, or log.servers in the file");
}

/** The gateway's name in the log: of one name one process is live. */
export function gatewayNameOf({ name }: Pick<Settings, "name">): string {
  const given = name ?? hostname().toLowerCase();
  const plain = given.replaceAll(/[^a-z0-9-]/g, "-").slice(0, 64);
  if (plain !== "") return plain;
  throw new StartError("the machine has no name; give one with --name");
}

export function streamNameOf({ stream = DEFAULT_STREAM }: LogSettings): string {
  return stream;
}

/** Refuses files that cannot be read. They are read again for each connection, so they may be renewed. */
export function accessOf(log: LogSettings, name: string): Access {
  const { servers, user, password, token, credentials, tls } = log;
  return {
    servers,
    name,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(token === undefined ? {} : { token }),
    ...(credentials === undefined ? {} : { credentialsFile: readable(credentials) }),
    ...(tls === undefined ? {} : { tls: tlsOf(tls) }),
  };
}

function tlsOf({ ca, cert, key }: NonNullable<LogSettings["tls"]>) {
  return {
    ...(ca === undefined ? {} : { caFile: readable(ca) }),
    ...(cert === undefined ? {} : { certFile: readable(cert) }),
    ...(key === undefined ? {} : { keyFile: readable(key) }),
  };
}

function readable(path: string): string {
  try {
    readFileSync(path);
    return path;
  } catch (error) {
    throw new StartError(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

export interface LinkStatus extends StreamStatus {
  /** Why the servers refuse what is published; empty if they do not. */
  readonly refusal: string;
  /** Of a log that several gateways write. */
  readonly ofWriters?: LogStatus;
  /** Of a log that the core writes that leads. */
  readonly ofCores?: CoreLogStatus;
}

/** The stream that a venue was opened with, for readiness and metrics. */
export class ClusterLink {
  private log: ReplicatedLog | undefined;
  private coreLog: FencedLog | undefined;
  /** Those that lead by turns, in that order; empty if several gateways write the log. */
  readonly cores: readonly string[];

  constructor(
    private readonly settings: LogSettings,
    private readonly name: string,
    private readonly logger: VenueLogger,
  ) {
    this.cores = settings.cores ?? [];
  }

  status(): LinkStatus | undefined {
    const ofCores = this.coreLog?.status();
    if (ofCores !== undefined) return { ...ofCores, ofCores };
    const ofWriters = this.log?.status();
    if (ofWriters === undefined) return undefined;
    return { ...ofWriters, refusal: ofWriters.refusal?.description ?? "", ofWriters };
  }

  readonly open: OpenStream = async (mirror, hooks) => {
    const log = await ReplicatedLog.open({ ...this.common(), mirror, hooks });
    this.log = log;
    return log;
  };

  /** Of the log that the core of `log.cores` writes that leads. */
  readonly openCore: OpenCoreLog = async (mirror, hooks, run) => {
    const { name } = this;
    const rank = this.cores.indexOf(name);
    if (rank === -1) throw new StartError(`the name of this core, ${name}, is not in log.cores`);
    const core = { core: name, rank, release: readVersion(), ...run };
    const log = await FencedLog.open({ ...this.common(), ...core, mirror, hooks });
    this.coreLog = log;
    return log;
  };

  private common() {
    const { settings, name, logger } = this;
    return {
      ...accessOf(settings, name),
      stream: streamNameOf(settings),
      logger: {
        info: (text: string) => logger.info({}, text),
        warn: (text: string) => logger.warn({}, text),
      },
      ...(settings.monitors === undefined ? {} : { monitors: settings.monitors }),
    };
  }
}
