/**
 * What attestors and cold keys sign for a vault, EIP-712: one definition for signers, relayers and checkers.
 * The types are those of `contracts/Vault.sol`; a test compares the digests with the contract's.
 */

import {
  type Address,
  concatHex,
  domainSeparator,
  type Hex,
  hashTypedData,
  isHex,
  parseSignature,
  recoverAddress,
  size,
  type TypedData,
} from "viem";
import { type PrivateKeyAccount, sign } from "viem/accounts";

/** Which vault a signature is for. */
export interface VaultDomain {
  /** The hash of the venue's Genesis, 64 hex digits with 0x. */
  readonly venueId: Hex;
  readonly chainId: number;
  readonly vault: Address;
}

export const VAULT_TYPES = {
  Withdrawal: [
    { name: "token", type: "address" },
    { name: "account", type: "address" },
    { name: "amount", type: "uint128" },
    { name: "id", type: "uint64" },
    { name: "deadline", type: "uint64" },
  ],
  Unlock: [
    { name: "sequence", type: "uint64" },
    { name: "expiry", type: "uint64" },
  ],
  SetAttestors: [
    { name: "attestors", type: "address[]" },
    { name: "quorum", type: "uint256" },
    { name: "sequence", type: "uint64" },
    { name: "expiry", type: "uint64" },
  ],
  SetGuardians: [
    { name: "guardians", type: "address[]" },
    { name: "sequence", type: "uint64" },
    { name: "expiry", type: "uint64" },
  ],
  SetCaps: [
    { name: "token", type: "address" },
    { name: "hourFloor", type: "uint128" },
    { name: "dayFloor", type: "uint128" },
    { name: "sequence", type: "uint64" },
    { name: "expiry", type: "uint64" },
  ],
  Invalidate: [
    { name: "ids", type: "uint64[]" },
    { name: "sequence", type: "uint64" },
    { name: "expiry", type: "uint64" },
  ],
} as const;

/** Signed by attestors. */
export interface VaultWithdrawal {
  readonly token: Address;
  readonly account: Address;
  /** In the token's smallest units. */
  readonly amount: bigint;
  /** Position in the venue's log. */
  readonly id: bigint;
  /** Unix seconds. */
  readonly deadline: bigint;
}

interface Administration {
  /** The vault's `sequence` at the time of signing. */
  readonly sequence: bigint;
  /** Unix seconds. */
  readonly expiry: bigint;
}

/** What is signed, by the name of its type. All but `Withdrawal` are signed by cold keys. */
export interface VaultData {
  readonly Withdrawal: VaultWithdrawal;
  readonly Unlock: Administration;
  readonly SetAttestors: Administration & {
    readonly attestors: readonly Address[];
    readonly quorum: bigint;
  };
  readonly SetGuardians: Administration & { readonly guardians: readonly Address[] };
  readonly SetCaps: Administration & {
    readonly token: Address;
    readonly hourFloor: bigint;
    readonly dayFloor: bigint;
  };
  readonly Invalidate: Administration & { readonly ids: readonly bigint[] };
}

export type VaultAction = keyof VaultData;

function typedDomain({ venueId, chainId, vault }: VaultDomain) {
  const name = { name: "Perpgate Vault", version: "1" };
  return { ...name, chainId, verifyingContract: vault, salt: venueId };
}

/** What a vault's `domainSeparator` returns if it is the one of the domain. */
export function domainSeparatorOf(domain: VaultDomain): Hex {
  return domainSeparator({ domain: typedDomain(domain) });
}

/** The hash that is signed. @throws if a value does not fit its type. */
export function vaultDigest<A extends VaultAction>(
  domain: VaultDomain,
  action: A,
  data: VaultData[A],
): Hex {
  return hashTypedData<TypedData, string>({
    domain: typedDomain(domain),
    types: VAULT_TYPES,
    primaryType: action,
    message: { ...data },
  });
}

/** 65 bytes, r ‖ s ‖ v with v 27 or 28 and a low s, as the vault takes them. */
export async function signVaultData<A extends VaultAction>(
  domain: VaultDomain,
  action: A,
  data: VaultData[A],
  account: Pick<PrivateKeyAccount, "sign">,
): Promise<Hex> {
  return account.sign({ hash: vaultDigest(domain, action, data) });
}

/** The signature of an attestor under a withdrawal. */
export function signWithdrawal(
  domain: VaultDomain,
  withdrawal: VaultWithdrawal,
  privateKey: Hex,
): Promise<Hex> {
  return sign({ hash: vaultDigest(domain, "Withdrawal", withdrawal), privateKey, to: "hex" });
}

type SignatureProblem = "malformed" | "too_few" | "repeated_signer" | "signer_unknown";

export interface SignerGroup {
  readonly members: readonly Address[];
  readonly quorum: number;
}

/**
 * The signatures of one quorum as the vault takes them, in the order of their signers; or why there is none.
 * More than a quorum may be given; one that is no member's, or a member's second one, is refused.
 */
export async function joinSignatures(
  digest: Hex,
  signatures: readonly Hex[],
  group: SignerGroup,
): Promise<{ readonly joined: Hex } | { readonly problem: SignatureProblem }> {
  const bySigner = new Map<string, Hex>();
  for (const signature of signatures) {
    const signer = await vaultSignerOf(digest, signature);
    if (signer === undefined) return { problem: "malformed" };
    const key = signer.toLowerCase();
    if (bySigner.has(key)) return { problem: "repeated_signer" };
    if (!group.members.some((member) => member.toLowerCase() === key)) {
      return { problem: "signer_unknown" };
    }
    bySigner.set(key, signature);
  }
  if (bySigner.size < group.quorum) return { problem: "too_few" };
  const ascending = [...bySigner].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, group.quorum);
  return { joined: concatHex(ascending.map(([, signature]) => signature)) };
}

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Who signed, by the vault's rules; undefined for what the vault would refuse as malformed. */
export async function vaultSignerOf(digest: Hex, signature: Hex): Promise<Address | undefined> {
  if (!isHex(signature) || size(signature) !== 65) return undefined;
  try {
    const { s, v } = parseSignature(signature);
    if (BigInt(s) > HALF_ORDER || (v !== 27n && v !== 28n)) return undefined;
    return await recoverAddress({ hash: digest, signature });
  } catch {
    return undefined;
  }
}
