/** Three nats-servers and three gateways whose cores lead by turns, as processes on this machine. */
import { execFileSync } from "node:child_process";
import { createPrivateKey, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NatsCluster } from "@perpgate/cluster/testing";
import { freePort } from "@perpgate/journal/testing";
import { newLogKey } from "@perpgate/venue";
import { BENCH_SETTINGS, BenchGateway, inFolder, MAIN } from "../harness/gateway.js";
import { askOnce, type BenchAccount } from "../harness/http.js";
import { orderBody, signatureOf } from "../harness/wire.js";

const NAMES = ["gateway-1", "gateway-2", "gateway-3"];
const ACKNOWLEDGED_WITHIN_MS = 60_000;
/** The venue's stream. */
export const STREAM = "perpgate";

export interface VenueCluster {
  readonly nats: NatsCluster;
  readonly gateways: readonly BenchGateway[];
}

/** Runs with a cluster; ends its processes and removes its folders. */
export function withVenueCluster<T>(run: (cluster: VenueCluster) => Promise<T>): Promise<T> {
  return inFolder("bench-cluster", async (folder) => {
    const nats = await NatsCluster.start();
    const gateways: BenchGateway[] = [];
    try {
      const logKey = join(folder, "log.key");
      writeFileSync(logKey, newLogKey().secret, { mode: 0o600 });
      const settings = {
        ...BENCH_SETTINGS,
        metrics: { port: false },
        receipts: { logKey },
        auth: { nonceKey: randomBytes(32).toString("hex") },
      };
      const config = join(folder, "init.json");
      writeFileSync(config, JSON.stringify(settings));
      const servers = nats.urls().join(",");
      perpgate("cluster", "init", "--config", config, "--log", servers);
      const [authority, core] = [join(folder, "ca"), join(folder, "core")];
      perpgate("keygen", "authority", authority);
      perpgate("keygen", "core", core, "--ca", authority);
      const tls = { ca: `${authority}.pem`, cert: `${core}.pem`, key: `${core}.key` };
      const links = await Promise.all(NAMES.map(async () => `127.0.0.1:${await freePort()}`));
      // In order, so that the first one leads.
      for (const [member, name] of NAMES.entries()) {
        const own = join(folder, name);
        mkdirSync(own);
        const others = links.filter((_, at) => at !== member);
        const configuration = {
          ...settings,
          log: { servers: nats.urls(member), cores: NAMES },
          link: { listen: links[member], cores: others, tls },
        };
        const flags = ["--no-bots", "--log-level", "error", "--name", name];
        gateways.push(await BenchGateway.start({ folder: own, configuration, flags }));
      }
      return await run({ nats, gateways });
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.end()));
      await nats.remove();
    }
  });
}

function perpgate(...words: readonly string[]): void {
  execFileSync(process.execPath, [MAIN, ...words], { stdio: ["ignore", "ignore", "inherit"] });
}

/** One order after the other to one gateway, whatever the answers; measures the time between them. */
export class SteadyTrader {
  /** The longest time between two acknowledgements since `resetGap`. */
  longestGapMs = 0;
  acknowledged = 0;
  private lastMs = performance.now();
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(port: number, account: BenchAccount) {
    this.ended = this.trade(port, account);
    // `more` rejects with it.
    this.ended.catch(() => undefined);
  }

  resetGap(): void {
    this.longestGapMs = 0;
    this.lastMs = performance.now();
  }

  /** Resolves after `count` more acknowledgements; rejects if they take longer than a minute. */
  async more(count: number): Promise<void> {
    const target = this.acknowledged + count;
    const untilMs = performance.now() + ACKNOWLEDGED_WITHIN_MS;
    while (this.acknowledged < target) {
      if (performance.now() > untilMs) throw new Error("no acknowledgements for a minute");
      await Promise.race([this.ended, sleep(5)]);
    }
  }

  stop(): void {
    this.isOver = true;
  }

  private async trade(port: number, { token, privateKeyPem }: BenchAccount): Promise<void> {
    const key = createPrivateKey(privateKeyPem);
    for (let nonce = 1; !this.isOver; nonce++) {
      const body = orderBody(nonce);
      const signature = signatureOf(key, body);
      const { status } = await askOnce({ port }, "/v1/orders", { body, token, signature });
      if (status !== 200) continue;
      const now = performance.now();
      this.longestGapMs = Math.max(this.longestGapMs, now - this.lastMs);
      this.lastMs = now;
      this.acknowledged++;
    }
  }
}
