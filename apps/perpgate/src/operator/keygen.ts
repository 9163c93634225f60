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
  authority: newLinkAuthority,
  core: (file: string, options: KeyOptions) => newLinkCertificate("either", file, options),
  edge: (file: string, options: KeyOptions) => newLinkCertificate("client", file, options),
} as const;

type KeyKind = keyof typeof MAKERS;

interface KeyOptions {
  readonly json?: boolean;
  readonly name?: string;
  readonly ca?: string;
  readonly days?: number;
}

/** Options that not every kind has. */
const KINDS_OF: Readonly<Record<"name" | "ca" | "days", readonly KeyKind[]>> = {
  name: ["log", "authority", "core", "edge"],
  ca: ["core", "edge"],
  days: ["authority", "core", "edge"],
};
const PUBLIC_PARTS: Partial<Record<KeyKind, string>> = {
  wallet: "address",
  authority: "fingerprint",
  core: "fingerprint",
  edge: "fingerprint",
};

export async function keygen(kind: KeyKind, file: string, options: KeyOptions): Promise<number> {
  const output = new Output(options.json === true);
  for (const option of ["name", "ca", "days"] as const) {
    const kinds = KINDS_OF[option];
    if (options[option] === undefined || kinds.includes(kind)) continue;
    throw new StartError(`--${option} is for ${kinds.join(", ")}`);
  }
  const publicPart = await MAKERS[kind](file, options);
  if (output.isJson) output.json({ kind, file, [PUBLIC_PARTS[kind] ?? "publicKey"]: publicPart });
  else output.line(publicPart);
  return 0;
}

async function newLinkAuthority(file: string, options: KeyOptions): Promise<string> {
  return (await import("./link-keys.js")).newAuthorityFiles(file, options);
}

async function newLinkCertificate(
  role: "either" | "client",
  file: string,
  options: KeyOptions,
): Promise<string> {
  return (await import("./link-keys.js")).newCertificateFiles(role, file, options);
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
async function newLogKeyFile(path: string, { name }: KeyOptions): Promise<string> {
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
