/** A core of a cluster within the test's process: a venue on the fenced log, and its ends of links to edges. */

import { join } from "node:path";
import { FencedLog } from "@perpgate/cluster";
import { UNLIMITED } from "@perpgate/gateway";
import type { OpenCoreLog } from "@perpgate/journal";
import {
  type Connect,
  type CoreLink,
  connectToCore,
  type EdgeListener,
  listenForEdges,
  type RoutedCore,
} from "@perpgate/link";
import { Core, NO_EVIDENCE, Venue } from "@perpgate/venue";
import { bridgeOf } from "../../serve/bridge/settings-bridge.js";
import type { Settings } from "../../serve/settings.js";
import { venueTermsOf } from "../../serve/venue-opening.js";
import { logSettingsOf, streamNameOf } from "../log-access.js";

const INDEX_EVERY_MS = 200;
const TICK_MS = 200;
const INDEX_TICKS = 650_000;

export class CoreInProcess implements RoutedCore {
  readonly faults: unknown[] = [];
  log!: FencedLog;
  venue!: Venue;
  private core!: Core;
  private readonly links = new Set<CoreLink>();
  private listener: EdgeListener | undefined;
  private index: NodeJS.Timeout | undefined;
  private isUp = false;

  constructor(
    readonly name: string,
    private readonly rank: number,
    /** Its data folder. */
    readonly data: string,
    private readonly settings: Settings,
    private readonly servers: readonly string[],
  ) {}

  static in(
    folder: string,
    rank: number,
    settings: Settings,
    servers: readonly string[],
  ): CoreInProcess {
    const name = `core-${rank + 1}`;
    return new CoreInProcess(name, rank, join(folder, name), settings, servers);
  }

  /** Resolves once it stands by. */
  async start(): Promise<void> {
    const { name, data: directory, settings } = this;
    const openCoreLog: OpenCoreLog = (...parts) => this.open(...parts);
    this.venue = await Venue.open({
      ...venueTermsOf(settings, bridgeOf(settings, undefined)),
      cohort: settings.cohort.stage,
      directory,
      name,
      openCoreLog,
      checkpoints: null,
      commit: "inline",
    });
    this.venue.firstOfEpoch = () => [indexAt(this.venue)];
    void this.venue.failed.then((error) => this.faults.push(error));
    this.core = new Core({
      venue: this.venue,
      limits: UNLIMITED,
      onFault: (error) => this.faults.push(error),
    });
    this.listener = await listenForEdges(directory, (transport) => this.join(transport));
    this.isUp = true;
    this.index = setInterval(() => this.setIndex(), INDEX_EVERY_MS);
  }

  get leads(): boolean {
    return this.isUp && this.venue.isLeading;
  }

  connect(): Promise<Connect> {
    return connectToCore(this.data);
  }

  private join(transport: Connect): void {
    const link = this.core.connect(transport);
    this.links.add(link);
    void link.closed.then(() => this.links.delete(link));
  }

  /** Ends its links; edges may connect again. */
  cutEdges(): void {
    for (const link of this.links) link.close("cut");
  }

  /** From this moment on it sends nothing more, to servers or edges. */
  async kill(): Promise<void> {
    this.isUp = false;
    clearInterval(this.index);
    void this.listener?.close();
    this.cutEdges();
    this.core.stop();
    const closed = this.log.close();
    await this.venue.abandon();
    await closed;
    // What the end of a process does: it unlocks the folder.
    await this.venue.close();
  }

  /** Hands over, and ends. */
  async stop(): Promise<void> {
    clearInterval(this.index);
    if (!this.isUp) return;
    await this.venue.close();
    this.isUp = false;
    void this.listener?.close();
    this.cutEdges();
    this.core.stop();
  }

  private async open(...[mirror, hooks, run]: Parameters<OpenCoreLog>): Promise<FencedLog> {
    const { name, rank, settings, servers } = this;
    this.log = await FencedLog.open({
      ...run,
      name,
      core: name,
      rank,
      stream: streamNameOf(logSettingsOf(settings)),
      servers,
      mirror,
      hooks,
      release: "test",
      logger: { info: () => undefined, warn: () => undefined },
      patienceMs: 30_000,
    });
    return this.log;
  }

  private setIndex(): void {
    const { venue } = this;
    if (venue.isLeading) venue.submit(indexAt(venue), NO_EVIDENCE, () => undefined);
  }
}

function indexAt(venue: Venue) {
  const stampMs = venue.nowMs();
  const slot = Math.floor(stampMs / TICK_MS);
  return { kind: "UpdateIndex", stampMs, market: 0, indexTicks: INDEX_TICKS, slot } as const;
}
