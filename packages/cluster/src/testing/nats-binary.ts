/**
 * The server's program for tests: the path in `PERPGATE_NATS_SERVER`, or the one on `PATH`. Without
 * one the tests are skipped with a warning; with `REQUIRE_NATS_SERVER=1`, as in continuous
 * integration, they fail.
 */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAME = "nats-server";

export function natsServerPath(): string | undefined {
  const named = process.env.PERPGATE_NATS_SERVER ?? "";
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const places = [named, ...folders.map((folder) => join(folder, NAME))];
  return places.find((path) => path !== "" && existsSync(path));
}

/** Whether the tests that need a server are skipped; prints the reason. */
export function isWithoutNatsServer(): boolean {
  if (natsServerPath() !== undefined) return false;
  if (process.env.REQUIRE_NATS_SERVER === "1") {
    throw new Error("REQUIRE_NATS_SERVER is set, but nats-server was not found");
  }
  console.warn(
    "SKIPPED: the tests of the replicated log need nats-server, which was not found. " +
      "Set PERPGATE_NATS_SERVER=/path to a release of 2.12.3 or later.",
  );
  return true;
}
