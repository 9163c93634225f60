/** Which data folder the operator's commands read. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { TestVenue } from "@perpgate/venue/testing";
import { expect, test } from "vitest";
import { MAIN, temporaryFolder } from "../testing/perpgate-process.js";

async function venueFolder(folder: string, signIns: number): Promise<string> {
  const driver = await TestVenue.open(folder, { segmentBytes: 1 << 20 });
  for (let account = 1; account <= signIns; account++) await driver.signIn(account);
  await driver.venue.close();
  return folder;
}

test("PERPGATE_DATA: verify and backup read that folder, not .data of the working directory", async () => {
  const here = temporaryFolder();
  await venueFolder(join(here, ".data"), 0);
  const data = await venueFolder(join(temporaryFolder(), "data"), 3);
  const perpgate = (environment: NodeJS.ProcessEnv, ...args: string[]) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...args, "--json"], {
      cwd: here,
      env: { PATH: process.env.PATH, ...environment },
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const { commands } = perpgate({}, "verify", "--data", data);
  expect(perpgate({}, "verify").commands).toBeLessThan(commands);
  const environment = { PERPGATE_DATA: data };
  expect(perpgate(environment, "verify")).toMatchObject({ commands });
  expect(perpgate(environment, "backup", "--to", join(here, "copy"))).toMatchObject({ commands });
  // The flag wins.
  expect(perpgate(environment, "verify", "--data", ".data").commands).toBeLessThan(commands);
});
