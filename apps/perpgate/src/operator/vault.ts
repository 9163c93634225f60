/** `perpgate vault`: a vault contract deployed, read, locked and administered. */

import { readFileSync, writeFileSync } from "node:fs";
import {
  type AdminFile,
  type Administration,
  adminDigest,
  adminFields,
  adminFileText,
  domainSeparatorOf,
  joinSignatures,
  readAdminFile,
  readVaultSetup,
  requestOfVotes,
  signVaultData,
  VAULT_ABI,
  VAULT_BYTECODE,
  VAULT_CODE,
  type VaultDomain,
} from "@perpgate/bridge";
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  decodeErrorResult,
  encodeDeployData,
  getAddress,
  type Hex,
  http,
  isAddress,
  isHex,
  type PublicClient,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { Output } from "../cli/output.js";
import { reasonOf, StartError, UsageError } from "../cli/start-error.js";
import { readWallet } from "../trader/wallet-key.js";

interface Common {
  readonly json?: boolean;
}
interface OnChain extends Common {
  readonly rpc: string;
}
interface Sending extends OnChain {
  readonly keyFile: string;
}

type PreparedName = "unlock" | "attestors" | "guardians" | "caps" | "invalidate";

const DAY_MS = 86_400_000;
const MAX_LIFE_MS = 7 * DAY_MS;
const RECEIPT_TIMEOUT_MS = 300_000;

export async function deploy(options: Sending & { readonly setup: string }): Promise<number> {
  const output = new Output(options.json === true);
  const setup = read(options.setup, readVaultSetup);
  const client = clientOf(options.rpc);
  const account = readWallet(options.keyFile);
  const data = encodeDeployData({ abi: VAULT_ABI, bytecode: VAULT_BYTECODE, args: [setup] });
  const { hash, address } = await attempt(async () => {
    // A constructor that refuses is found before gas is paid.
    await client.estimateGas({ account, data });
    const hash = await walletOf(account, options.rpc).sendTransaction({
      account,
      chain: null,
      data,
    });
    output.remark(`sent ${hash}, waiting for its block`);
    const receipt = await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS });
    return { hash, address: receipt.contractAddress };
  });
  if (address === null || address === undefined) throw new StartError(`${hash} failed`);
  const vault = getAddress(address);
  const chainId = await attempt(() => client.getChainId());
  await checkVault(client, { chainId, vault, venueId: setup.venue });
  if (output.isJson) output.json({ vault, chainId, transaction: hash });
  else output.line(`${vault} on chain ${chainId}; its code is that of this release`);
  return 0;
}

export async function vaultStatusCommand(
  options: OnChain & { readonly vault: string },
): Promise<number> {
  const output = new Output(options.json === true);
  const client = clientOf(options.rpc);
  const vault = addressOf(options.vault, "--vault");
  const state = await readStatus(client, vault);
  if (output.isJson) {
    output.json(JSON.parse(JSON.stringify(state, bigintAsText)));
    return 0;
  }
  const { attestors, coldKeys, proposal } = state;
  output.list([
    ["vault", `${vault} on chain ${state.chainId}, block ${state.block}`],
    ["venue", state.venueId],
    ["state", state.isLocked ? "LOCKED" : "open"],
    ["dispute", `${state.disputeSeconds} s and ${state.disputeBlocks} blocks`],
    ["sequence", String(state.sequence)],
    ["proposal", proposal === null ? "none" : `pending since ${timeOf(proposal.proposedAt)}`],
    ["attestors", `${attestors.quorum} of ${attestors.members.join(" ")}`],
    ["guardians", state.guardians.join(" ")],
    ["cold keys", `${coldKeys.quorum} of ${coldKeys.members.join(" ")}`],
  ]);
  output.rows(
    [
      { title: "token", cell: ({ token }) => token },
      { title: "holds", cell: ({ holdings }) => String(holdings) },
      { title: "hour", cell: ({ hourUsed, hourCap }) => `${hourUsed} of ${hourCap}` },
      { title: "day", cell: ({ dayUsed, dayCap }) => `${dayUsed} of ${dayCap}` },
    ],
    state.tokens,
    "no token is listed",
  );
  return 0;
}

export async function lock(options: Sending & { readonly vault: string }): Promise<number> {
  const vault = addressOf(options.vault, "--vault");
  const client = clientOf(options.rpc);
  await readStatus(client, vault);
  const transaction = await send(client, options, vault, { functionName: "lock", args: [] });
  return done(options, { vault, transaction }, `locked by ${transaction}`);
}

export async function prepareCommand(
  name: PreparedName,
  options: OnChain & {
    readonly vault: string;
    readonly out: string;
    readonly member: readonly string[];
    readonly quorum?: number;
    readonly token?: string;
    readonly hourFloor?: string;
    readonly dayFloor?: string;
    readonly id: readonly string[];
    readonly expiresIn?: number;
  },
): Promise<number> {
  const { expiresIn = DAY_MS } = options;
  if (expiresIn > MAX_LIFE_MS) throw new UsageError("--expires-in is at most 7d");
  const client = clientOf(options.rpc);
  const vault = addressOf(options.vault, "--vault");
  const { chainId, venueId, sequence, time } = await readStatus(client, vault);
  const bounds = { sequence, expiry: time + BigInt(Math.floor(expiresIn / 1_000)) };
  const administration = administrationOf(name, options, bounds);
  const file = { ...administration, domain: { chainId, vault, venueId }, signatures: [] };
  return write(options.out, file, options);
}

export async function sign(
  path: string,
  options: Common & { readonly keyFile: string; readonly out: string },
): Promise<number> {
  const file = read(path, readAdminFile);
  const account = readWallet(options.keyFile);
  const signature = await signVaultData(file.domain, file.action, file.data, account);
  if (file.signatures.includes(signature)) throw new StartError(`${path} has this signature`);
  return write(options.out, { ...file, signatures: [...file.signatures, signature] }, options);
}

const SUBMIT = {
  Unlock: "proposeUnlock",
  SetAttestors: "proposeAttestors",
  SetGuardians: "proposeGuardians",
  SetCaps: "proposeCaps",
  Invalidate: "invalidate",
} as const;

export async function submit(paths: readonly string[], options: Sending): Promise<number> {
  const files = paths.map((path) => read(path, readAdminFile));
  const [first] = files;
  if (first === undefined) throw new UsageError("a file is missing");
  const digest = adminDigest(first);
  if (files.some((file) => adminDigest(file) !== digest)) {
    throw new StartError("the files have different data; submit them one by one");
  }
  const client = clientOf(options.rpc);
  const { vault } = first.domain;
  const { coldKeys } = await checkVault(client, first.domain);
  const signatures = [...new Set(files.flatMap((file) => file.signatures))];
  const result = await joinSignatures(digest, signatures, coldKeys);
  if ("problem" in result) throw new StartError(PROBLEMS[result.problem]);
  const call = { functionName: SUBMIT[first.action], args: [first.data, result.joined] };
  const transaction = await send(client, options, vault, call);
  const next =
    first.action === "Invalidate" ? "in force" : "its dispute period has begun: vault finalize";
  return done(options, { vault, transaction }, `${first.action} ${transaction}; ${next}`);
}

const PROBLEMS = {
  malformed: "a signature is malformed",
  too_few: "there are fewer signatures than the quorum of cold keys",
  repeated_signer: "a cold key has signed twice",
  signer_unknown: "a signature is not by a cold key of this vault",
} as const;

const FINALIZE = {
  Unlock: "finalizeUnlock",
  SetAttestors: "finalizeAttestors",
  SetGuardians: "finalizeGuardians",
  SetCaps: "finalizeCaps",
} as const;

export async function finalize(path: string, options: Sending): Promise<number> {
  const file = read(path, readAdminFile);
  if (file.action === "Invalidate") throw new UsageError("invalidate acts when it is submitted");
  const client = clientOf(options.rpc);
  const { vault } = file.domain;
  await checkVault(client, file.domain);
  const call = { functionName: FINALIZE[file.action], args: [file.data] };
  const transaction = await send(client, options, vault, call);
  return done(options, { vault, transaction }, `${file.action} is in force by ${transaction}`);
}

/** Starts the payment of a withdrawal; anyone may, and pays the gas. */
export async function requestCommand(
  path: string,
  options: Sending & { readonly vault: string },
): Promise<number> {
  const votes: unknown = read(path, JSON.parse);
  const client = clientOf(options.rpc);
  const vault = addressOf(options.vault, "--vault");
  const { chainId, venueId, attestors } = await readStatus(client, vault);
  const made = await requestOfVotes(votes, { chainId, venueId, vault }, attestors);
  if (typeof made === "string") throw new StartError(`${path}: ${made}`);
  const { withdrawal, signatures } = made;
  const call = { functionName: "request", args: [withdrawal, signatures] };
  const transaction = await send(client, options, vault, call);
  const id = String(withdrawal.id);
  const next = `its dispute period has begun: vault pay ${id}`;
  return done(options, { vault, id, transaction }, `withdrawal ${id}: ${transaction}; ${next}`);
}

/** Pays a withdrawal after its dispute period. */
export async function pay(
  text: string,
  options: Sending & { readonly vault: string },
): Promise<number> {
  const id = units(text, "id");
  const client = clientOf(options.rpc);
  const vault = addressOf(options.vault, "--vault");
  await readStatus(client, vault);
  const call = { functionName: "finalize", args: [id] };
  const transaction = await send(client, options, vault, call);
  return done(
    options,
    { vault, id: text, transaction },
    `withdrawal ${id} is paid: ${transaction}`,
  );
}

function administrationOf(
  name: PreparedName,
  options: Parameters<typeof prepareCommand>[1],
  bounds: { readonly sequence: bigint; readonly expiry: bigint },
): Administration {
  const members = () => {
    if (options.member.length === 0) throw new UsageError(`${name} needs --member`);
    const list = options.member.map((member) => addressOf(member, "--member"));
    // The vault takes them ascending.
    return list.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  };
  switch (name) {
    case "unlock":
      return { action: "Unlock", data: bounds };
    case "attestors":
      if (options.quorum === undefined) throw new UsageError("attestors needs --quorum");
      return {
        action: "SetAttestors",
        data: { attestors: members(), quorum: BigInt(options.quorum), ...bounds },
      };
    case "guardians":
      return { action: "SetGuardians", data: { guardians: members(), ...bounds } };
    case "caps": {
      const { token, hourFloor, dayFloor } = options;
      if (token === undefined || hourFloor === undefined || dayFloor === undefined) {
        throw new UsageError("caps needs --token, --hour-floor and --day-floor");
      }
      const floors = {
        hourFloor: units(hourFloor, "--hour-floor"),
        dayFloor: units(dayFloor, "--day-floor"),
      };
      return {
        action: "SetCaps",
        data: { token: addressOf(token, "--token"), ...floors, ...bounds },
      };
    }
    case "invalidate":
      if (options.id.length === 0) throw new UsageError("invalidate needs --id");
      return {
        action: "Invalidate",
        data: { ids: options.id.map((id) => units(id, "--id")), ...bounds },
      };
  }
}

/** What the vault says about itself. @throws if its code is not that of this release. */
export async function readStatus(client: PublicClient, vault: Address) {
  return attempt(async () => {
    const block = await client.getBlock();
    const at = { address: vault, abi: VAULT_ABI, blockNumber: block.number } as const;
    const code = await client.getCode({ address: vault, blockNumber: block.number });
    if (code !== VAULT_CODE) throw new StartError(`${vault} is not a vault of this release`);
    const [members, quorum] = await client.readContract({ ...at, functionName: "attestorGroup" });
    const [cold, coldQuorum] = await client.readContract({ ...at, functionName: "coldKeyGroup" });
    const [hash, proposedAt, proposedBlock, expiry] = await client.readContract({
      ...at,
      functionName: "proposal",
    });
    const listed = await client.readContract({ ...at, functionName: "listedTokens" });
    const tokens = [];
    for (const entry of listed) {
      const args = [entry.token] as const;
      const [hourCap, hourUsed, dayCap, dayUsed] = await client.readContract({
        ...at,
        functionName: "capsOf",
        args,
      });
      const holdings = await client.readContract({
        address: entry.token,
        abi: BALANCE_ABI,
        functionName: "balanceOf",
        args: [vault],
        blockNumber: block.number,
      });
      tokens.push({ ...entry, holdings, hourCap, hourUsed, dayCap, dayUsed });
    }
    return {
      vault,
      chainId: await client.getChainId(),
      block: block.number,
      time: block.timestamp,
      venueId: await client.readContract({ ...at, functionName: "venue" }),
      isLocked: await client.readContract({ ...at, functionName: "isLocked" }),
      disputeSeconds: await client.readContract({ ...at, functionName: "disputeSeconds" }),
      disputeBlocks: await client.readContract({ ...at, functionName: "disputeBlocks" }),
      sequence: await client.readContract({ ...at, functionName: "sequence" }),
      domainSeparator: await client.readContract({ ...at, functionName: "domainSeparator" }),
      proposal: proposedAt === 0n ? null : { hash, proposedAt, proposedBlock, expiry },
      attestors: { members, quorum: Number(quorum) },
      guardians: await client.readContract({ ...at, functionName: "guardianGroup" }),
      coldKeys: { members: cold, quorum: Number(coldQuorum) },
      tokens,
    };
  });
}

const BALANCE_ABI = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ name: "owner", type: "address" }],
    outputs: [{ name: "", type: "uint256" }],
  },
] as const;

/** Checks that the vault is the one that data is for. */
async function checkVault(client: PublicClient, domain: VaultDomain) {
  const state = await readStatus(client, domain.vault);
  if (state.domainSeparator !== domainSeparatorOf(domain)) {
    throw new StartError("the data is for another chain or venue than this vault's");
  }
  return state;
}

async function send(
  client: PublicClient,
  options: Sending,
  vault: Address,
  call: { readonly functionName: string; readonly args: readonly unknown[] },
): Promise<Hex> {
  const account = readWallet(options.keyFile);
  return attempt(async () => {
    const abi: readonly unknown[] = VAULT_ABI;
    const { request } = await client.simulateContract({ address: vault, abi, account, ...call });
    const hash = await walletOf(account, options.rpc).writeContract({ ...request, chain: null });
    const receipt = await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS });
    if (receipt.status !== "success") throw new StartError(`${hash} reverted`);
    return hash;
  });
}

/** Errors of the chain as one line, with the vault's own name of what it refused. */
async function attempt<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    const name = refusalOf(error);
    throw new StartError(
      name === undefined ? error.shortMessage : `the vault refuses: ${name} (docs/vault.md)`,
    );
  }
}

/** The vault's error in what an endpoint returned. */
function refusalOf(error: BaseError): string | undefined {
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (reverted instanceof ContractFunctionRevertedError) return reverted.data?.errorName;
  // Of a creation: endpoints put the bytes into `data`, or one level below.
  const { data } = Object(error.walk((cause) => Object(cause).data !== undefined));
  const bytes: unknown = typeof data === "string" ? data : Object(data).data;
  if (!isHex(bytes)) return undefined;
  try {
    return decodeErrorResult({ abi: VAULT_ABI, data: bytes }).errorName;
  } catch {
    return undefined;
  }
}

function clientOf(rpc: string): PublicClient {
  if (!/^https?:\/\//.test(rpc)) throw new UsageError("--rpc begins with http:// or https://");
  return createPublicClient({ transport: http(rpc) });
}

function walletOf(account: PrivateKeyAccount, rpc: string) {
  return createWalletClient({ account, transport: http(rpc) });
}

function read<T>(path: string, parse: (text: string) => T): T {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new StartError(`${path}: ${reasonOf(error)}`);
  }
}

/** Writes a new file and shows what it says, for the eyes of who signs. */
function write(path: string, file: AdminFile, options: Common): number {
  try {
    writeFileSync(path, adminFileText(file), { flag: "wx" });
  } catch (error) {
    throw new StartError(`${path}: ${reasonOf(error)}`);
  }
  const { domain, action, signatures } = file;
  const digest = adminDigest(file);
  const output = new Output(options.json === true);
  if (output.isJson) output.json({ file: path, action, digest, signatures: signatures.length });
  else {
    output.list([
      ["action", action],
      ...adminFields(file),
      ["until", timeOf(file.data.expiry)],
      ["vault", `${domain.vault} on chain ${domain.chainId}`],
      ["venue", domain.venueId],
      ["digest", digest],
      ["signatures", String(signatures.length)],
      ["file", path],
    ]);
  }
  return 0;
}

function done(options: Common, result: object, line: string): number {
  const output = new Output(options.json === true);
  if (output.isJson) output.json(result);
  else output.line(line);
  return 0;
}

function addressOf(text: string, name: string): Address {
  if (!isAddress(text)) throw new UsageError(`${name}: "${text}" is not an address`);
  return getAddress(text);
}

function units(text: string, name: string): bigint {
  if (!/^\d{1,38}$/.test(text)) throw new UsageError(`${name}: "${text}" is not a whole number`);
  return BigInt(text);
}

function timeOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString();
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
