/** A real EVM node in a process of its own, on a free loopback port, for as long as tests need it. */

import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export const LOCAL_CHAIN_ID = 31_337;
const FOLDER = fileURLToPath(new URL("hardhat/", import.meta.url));
const STARTED = /Started HTTP and WebSocket JSON-RPC server at (http:\/\/[^/\s]+)/;

export interface LocalChain {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startLocalChain(): Promise<LocalChain> {
  const program = createRequire(import.meta.url).resolve("hardhat/internal/cli/bootstrap");
  const child = spawn(
    process.execPath,
    [program, "node", "--hostname", "127.0.0.1", "--port", "0"],
    {
      cwd: FOLDER,
      env: { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", CI: "true" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const url = await addressOf(child);
  return {
    url,
    stop: async () => {
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await closed;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer) => {
      if (said.length > 65_536) return;
      said += chunk.toString();
      const url = STARTED.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`the chain did not start: ${said}`)));
  });
}
