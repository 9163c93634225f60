/**
 * A profile: one wallet at one gateway, stored between two calls of the command line.
 *
 *   $XDG_CONFIG_HOME/perpgate/profiles/<name>/   0700
 *     profile.json    the gateway, where the wallet's key is, the session with its key
 *     wallet.key      the wallet's key, if login created it
 *     nonces-<hash>   the nonces of a session's orders
 */

import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { SavedSession } from "@perpgate/sdk";
import { StartError, UsageError } from "../cli/start-error.js";
import {
  checkPrivateFolder,
  preparePrivateFolder,
  readPrivateFile,
  writePrivateFile,
} from "./private-file.js";

/** Where the wallet's key is: `wallet.key`, the environment, or a file of the user. */
export type KeyPlace = "own" | "environment" | { readonly file: string };

export interface ProfileContent {
  readonly version: 1;
  readonly url: string;
  readonly address: string;
  readonly key: KeyPlace;
  /** Null after a logout. */
  readonly session: SavedSession | null;
  /** When the session began, by this machine's clock, which its nonces follow; missing in old files. */
  readonly loggedInAt?: number;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
/** Longer than any session lasts. */
const LEDGER_LIFE_MS = 31 * 24 * 3_600_000;

export class Profile {
  readonly folder: string;

  constructor(readonly name: string) {
    if (!NAME.test(name)) {
      throw new UsageError(`"${name}" is not a name for a profile: letters, digits, _ and -`);
    }
    this.folder = join(configFolder(process.env), "profiles", name);
  }

  /** Undefined before the first login. */
  read(): ProfileContent | undefined {
    checkPrivateFolder(this.folder);
    const text = readPrivateFile(this.contentPath);
    if (text === undefined) return undefined;
    const content = parse(text);
    if (content === undefined) {
      throw new StartError(`${this.contentPath} cannot be read; remove it and log in again`);
    }
    return content;
  }

  write(content: ProfileContent): void {
    this.prepare();
    writePrivateFile(this.contentPath, `${JSON.stringify(content, null, 2)}\n`);
  }

  prepare(): void {
    preparePrivateFolder(join(configFolder(process.env), "profiles"));
    preparePrivateFolder(this.folder);
  }

  get walletKeyPath(): string {
    return join(this.folder, "wallet.key");
  }

  ledgerPath(token: string): string {
    const hash = createHash("sha256").update(token).digest("hex");
    return join(this.folder, `nonces-${hash.slice(0, 16)}`);
  }

  /** The ledgers of the profile's sessions. */
  ledgers(): string[] {
    const names = readdirSync(this.folder).filter((name) => name.startsWith("nonces-"));
    return names.map((name) => join(this.folder, name));
  }

  /** Removes the ledgers of expired sessions. */
  removeOldLedgers(nowMs = Date.now()): void {
    for (const path of this.ledgers()) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats !== undefined && nowMs - stats.mtimeMs > LEDGER_LIFE_MS) {
        rmSync(path, { force: true });
      }
    }
  }

  private get contentPath(): string {
    return join(this.folder, "profile.json");
  }
}

/** XDG base directory rules: a relative path is ignored. */
function configFolder({ XDG_CONFIG_HOME = "" }: NodeJS.ProcessEnv): string {
  const base = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homedir(), ".config");
  return join(base, "perpgate");
}

function parse(text: string): ProfileContent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isContent(value) ? value : undefined;
}

/** The SDK checks the session when it restores it. */
function isContent(value: unknown): value is ProfileContent {
  if (typeof value !== "object" || value === null) return false;
  const { version, url, address, key, session }: Partial<Record<string, unknown>> = { ...value };
  return (
    version === 1 &&
    typeof url === "string" &&
    typeof address === "string" &&
    isKeyPlace(key) &&
    typeof session === "object"
  );
}

function isKeyPlace(key: unknown): key is KeyPlace {
  if (key === "own" || key === "environment") return true;
  return typeof key === "object" && key !== null && "file" in key && typeof key.file === "string";
}
