/** `perpgate keygen`: a new key in a file that only its owner can read, and that was not there. */

import type { Arguments, Command } from "../cli/command.js";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { createPrivateFile } from "../trader/private-file.js";

export const KEYGEN: Command = {
  usage: ["keygen wallet|session|attestor <file> [--json]"],
  about: `Makes a key in a file of mode 0600 and prints what may be known of it. A file that exists is
never overwritten.

  wallet    an Ethereum account for perpgate login --key-file; prints its address
  session   an Ed25519 key for perpgate login --session-key-file; prints its public key
  attestor  an Ed25519 key for bridge.keyFiles of the configuration; prints its public key`,
  options: { json: { kind: "flag", help: "JSON for programs" } },
  examples: [["keygen wallet ~/perpgate-wallet.key", "an account of your own"]],
  run: keygen,
};

/** Each loads what it needs, and no more. */
const MAKERS: Readonly<Record<string, (path: string) => Promise<string>>> = {
  wallet: newWallet,
  session: newSessionKey,
  attestor: newAttestorKey,
};

async function keygen(args: Arguments): Promise<number> {
  const kind = args.positional(0, "kind", 2);
  const path = args.positional(1, "file", 2);
  const make = Object.hasOwn(MAKERS, kind) ? MAKERS[kind] : undefined;
  if (make === undefined) throw args.fail(`"${kind}" is no kind of key: wallet, session, attestor`);
  const output = new Output(args.has("json"));
  const known = await make(path);
  if (output.isJson) {
    output.json({ kind, file: path, [kind === "wallet" ? "address" : "publicKey"]: known });
  } else output.line(known);
  return 0;
}

async function newWallet(path: string): Promise<string> {
  const { createWallet } = await import("../trader/wallet-key.js");
  return createWallet(path).address;
}

async function newSessionKey(path: string): Promise<string> {
  const { createSessionKey } = await import("@perpgate/sdk");
  const { publicKey, secret } = await createSessionKey({ kind: "ed25519", saveable: true });
  if (secret === undefined) throw new StartError("this platform makes no key that can be kept");
  createPrivateFile(path, `${secret}\n`);
  return publicKey;
}

async function newAttestorKey(path: string): Promise<string> {
  const { createKeyFile } = await import("@perpgate/bridge");
  try {
    return createKeyFile(path);
  } catch (error) {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (isThere) {
      throw new StartError(`${path} exists already and is not overwritten; choose another name`);
    }
    throw new StartError(`cannot write ${path}: ${error instanceof Error ? error.message : error}`);
  }
}
