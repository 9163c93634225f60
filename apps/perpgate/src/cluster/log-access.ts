/** How the settings reach the replicated log, and the venue's opening of it. */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { FencedLog, type LogStatus, type ServerAccess } from "@perpgate/cluster";
import type { OpenCoreLog } from "@perpgate/journal";
import type { VenueLogger } from "@perpgate/venue";
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

/** The core's name in the log. */
export function gatewayNameOf({ name }: Pick<Settings, "name">): string {
  const given = name ?? hostname().toLowerCase();
  const plain = given.replaceAll(/[^a-z0-9-]/g, "-").slice(0, 64);
  if (plain !== "") return plain;
  throw new StartError("the machine has no name; give one with --name");
}

export function streamNameOf({ stream = DEFAULT_STREAM }: LogSettings): string {
  return stream;
}

/** The names of the cores, in the order in which they take over. */
function coreNamesOf({ cores }: LogSettings): readonly string[] {
  if (cores !== undefined) return cores;
  throw new StartError(
    "log.cores is missing: the names of the cores, in the order in which they take over (docs/operating.md#a-cluster)",
  );
}

/** Refuses files that cannot be read. They are read again for each connection, so they may be renewed. */
export function accessOf(log: LogSettings, name: string): ServerAccess {
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

/** The stream that a venue was opened with, for readiness and metrics. */
export class ClusterLink {
  private log: FencedLog | undefined;
  /** Those that lead by turns, in that order. */
  readonly cores: readonly string[];

  /** @throws {StartError} if the core is none of `log.cores` */
  constructor(
    private readonly settings: LogSettings,
    private readonly name: string,
    private readonly logger: VenueLogger,
  ) {
    this.cores = coreNamesOf(settings);
    if (!this.cores.includes(name)) {
      throw new StartError(`the name of this core, ${name}, is not in log.cores`);
    }
  }

  status(): LogStatus | undefined {
    return this.log?.status();
  }

  readonly open: OpenCoreLog = async (mirror, hooks, run) => {
    const { settings, name, logger } = this;
    const log = await FencedLog.open({
      ...accessOf(settings, name),
      ...run,
      stream: streamNameOf(settings),
      core: name,
      rank: this.cores.indexOf(name),
      release: readVersion(),
      mirror,
      hooks,
      logger: {
        info: (text: string) => logger.info({}, text),
        warn: (text: string) => logger.warn({}, text),
      },
      ...(settings.monitors === undefined ? {} : { monitors: settings.monitors }),
    });
    this.log = log;
    return log;
  };
}
