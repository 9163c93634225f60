/**
 * A real PostgreSQL as a child process, with a data folder and a socket of its own. Tests that need it are
 * skipped, with the reason, where it is not installed; with `REQUIRE_POSTGRES=1` they fail.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { onTestFinished } from "vitest";
import { Postgres } from "../archive/postgres.js";

const RELEASES = "/usr/lib/postgresql";
const USER = "postgres";

/** The folder of its programs; undefined: not installed. */
export function postgresPrograms(): string | undefined {
  const found = existsSync(RELEASES)
    ? readdirSync(RELEASES)
        .map((release) => join(RELEASES, release, "bin"))
        .find((folder) => existsSync(join(folder, "postgres")))
    : undefined;
  const reason = found === undefined ? "PostgreSQL is not installed" : missingPackage();
  if (reason === undefined) return found;
  if (process.env.REQUIRE_POSTGRES === "1") throw new Error(reason);
  console.log(`the archive is not tested: ${reason}`);
  return undefined;
}

function missingPackage(): string | undefined {
  try {
    createRequire(import.meta.url).resolve("pg");
    return undefined;
  } catch {
    return "the package pg is not installed: npm ci";
  }
}

export class PostgresServer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly programs: string,
    private readonly folder: string,
  ) {}

  /** Ends with the test, unless several tests share it. */
  static async start(
    programs: string,
    whenDone: (stop: () => Promise<void>) => void = onTestFinished,
  ): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "perpgate-pg-"));
    const server = new PostgresServer(programs, folder);
    whenDone(async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    });
    mkdirSync(server.data);
    if (isRoot()) execFileSync("chown", ["-R", USER, folder]);
    const [program, ...args] = server.command("initdb");
    execFileSync(program, [...args, "-D", server.data, "-U", USER, "-A", "trust", "--no-sync"]);
    await server.run();
    return server;
  }

  get url(): string {
    return `postgresql://${USER}@localhost/${USER}?host=${encodeURIComponent(this.folder)}`;
  }

  /** The file of its socket. */
  get socket(): string {
    return join(this.folder, ".s.PGSQL.5432");
  }

  /** Starts it, on the data that it has. */
  async run(): Promise<void> {
    this.child = this.spawn();
    await until(async () => {
      // After a kill it refuses to start as long as one of its processes has not noticed that.
      if (this.child?.exitCode === 1) this.child = this.spawn();
      const postgres = await Postgres.connect(this.url).catch(() => undefined);
      await postgres?.close();
      return postgres !== undefined;
    });
  }

  private spawn(): ChildProcess {
    const [program, ...args] = this.command("postgres");
    const own = ["-D", this.data, "-k", this.folder, "-c", "listen_addresses="];
    return spawn(program, [...args, ...own], { stdio: "ignore" });
  }

  /** As a failing machine would; the next `run` recovers. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Removes all tables. */
  async empty(): Promise<void> {
    await this.query("DROP SCHEMA public CASCADE");
    await this.query("CREATE SCHEMA public");
  }

  async query(text: string) {
    const postgres = await Postgres.connect(this.url);
    try {
      return await postgres.query(text);
    } finally {
      await postgres.close();
    }
  }

  private get data(): string {
    return join(this.folder, "data");
  }

  /** It refuses to run as root. */
  private command(name: string): [string, ...string[]] {
    const program = join(this.programs, name);
    if (!isRoot()) return [program];
    return ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", program];
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
