/** `perpgate keygen`: a new key in a new file that only its owner can read. */

import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { createPrivateFile } from "../trader/private-file.js";

/** Each loads only what it needs. */
const MAKERS = {
  wallet: newWallet,
  session: newSessionKey,
  attestor: newAttestorKeyFile,
  log: newLogKeyFile,
} as const;

export async function keygen(
  kind: keyof typeof MAKERS,
  file: string,
  options: { readonly json?: boolean; readonly name?: string },
): Promise<number> {
  const output = new Output(options.json === true);
  if (options.name !== undefined && kind !== "log") {
    throw new StartError("--name is for a log key");
  }
  const publicPart = await MAKERS[kind](file, options.name);
  if (output.isJson) {
    output.json({ kind, file, [kind === "wallet" ? "address" : "publicKey"]: publicPart });
  } else output.line(publicPart);
  return 0;
}

async function newWallet(path: string): Promise<string> {
  const { createWallet } = await import("../trader/wallet-key.js");
  return createWallet(path).address;
}

async function newSessionKey(path: string): Promise<string> {
  const { createSessionKey } = await import("@perpgate/sdk");
  const { publicKey, secret } = await createSessionKey({ kind: "ed25519", saveable: true });
  if (secret === undefined) throw new StartError("this platform cannot export session keys");
  createPrivateFile(path, `${secret}\n`);
  return publicKey;
}

/** The verifier key: the name of the log, and its public key. */
async function newLogKeyFile(path: string, name?: string): Promise<string> {
  const { LogKeyUnreadable, newLogKey } = await import("@perpgate/venue");
  try {
    const { key, secret } = newLogKey(name);
    createPrivateFile(path, `${secret}\n`);
    return key.text;
  } catch (error) {
    throw error instanceof LogKeyUnreadable ? new StartError(`--name ${error.message}`) : error;
  }
}

async function newAttestorKeyFile(path: string): Promise<string> {
  const { newAttestorKey } = await import("@perpgate/bridge");
  const { secret, publicKey } = newAttestorKey();
  createPrivateFile(path, `${secret}\n`);
  return publicKey;
}
