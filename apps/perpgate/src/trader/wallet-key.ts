/**
 * The wallet's private key: from a file, from the environment, or created for the testnet. It signs
 * the sign-in message only; the session key signs orders.
 */

import { resolve } from "node:path";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { StartError } from "../cli/start-error.js";
import { createPrivateFile, readPrivateFile } from "./private-file.js";
import type { KeyPlace, Profile, ProfileContent } from "./profile.js";

const KEY_VARIABLE = "PERPGATE_WALLET_KEY";

export interface ChosenWallet {
  readonly account: PrivateKeyAccount;
  readonly place: KeyPlace;
  /** Whether this call created it. */
  readonly isNew: boolean;
}

/** The key of the flag, else of the environment, else of the profile, else a new one. */
export function chooseWallet(
  profile: Profile,
  known: ProfileContent | undefined,
  keyFile: string | undefined,
): ChosenWallet {
  if (keyFile !== undefined) return fromFile(resolve(keyFile));
  const variable = process.env[KEY_VARIABLE];
  if (variable !== undefined && variable !== "") {
    return { account: accountOf(variable, KEY_VARIABLE), place: "environment", isNew: false };
  }
  if (known?.key === "environment") {
    throw new StartError(
      `profile "${profile.name}" was made with the key in ${KEY_VARIABLE}; set it again, ` +
        "or name a key with --key-file, or another profile with --profile",
    );
  }
  if (known !== undefined && known.key !== "own") return fromFile(known.key.file);
  return ownWallet(profile);
}

function ownWallet(profile: Profile): ChosenWallet {
  const path = profile.walletKeyPath;
  const text = readPrivateFile(path);
  if (text !== undefined) return { account: accountOf(text, path), place: "own", isNew: false };
  return { account: createWallet(path), place: "own", isNew: true };
}

/** Creates a key in a file that must not exist. */
export function createWallet(path: string): PrivateKeyAccount {
  const secret = generatePrivateKey();
  createPrivateFile(path, `${secret}\n`);
  return privateKeyToAccount(secret);
}

function fromFile(path: string): ChosenWallet {
  return { account: readWallet(path), place: { file: path }, isNew: false };
}

/** The key of a file. */
export function readWallet(path: string): PrivateKeyAccount {
  const text = readPrivateFile(path);
  if (text === undefined) {
    throw new StartError(`there is no key in ${path}; make one: perpgate keygen wallet ${path}`);
  }
  return accountOf(text, path);
}

/** No message may repeat the text: it is secret. */
function accountOf(text: string, origin: string): PrivateKeyAccount {
  const digits = text.trim().replace(/^0x/i, "").toLowerCase();
  try {
    if (/^[0-9a-f]{64}$/.test(digits)) return privateKeyToAccount(`0x${digits}`);
  } catch {
    // Zero, or not below the order of the curve.
  }
  throw new StartError(
    `${origin} does not hold a wallet's private key: 64 hex digits, 0x optional`,
  );
}
