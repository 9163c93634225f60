/**
 * Administration of a vault as a file: prepared where the chain can be read, signed by cold keys offline,
 * submitted by anyone. Numbers are decimal texts, so that no reader rounds them.
 */

import { Ajv } from "ajv";
import { type Static, Type } from "typebox";
import { type Address, getAddress, type Hex, isAddress } from "viem";
import { VAULT_TYPES, type VaultData, type VaultDomain, vaultDigest } from "./typed-data.js";

const FORMAT = "perpgate vault administration v1";

export const ADMIN_ACTIONS = [
  "Unlock",
  "SetAttestors",
  "SetGuardians",
  "SetCaps",
  "Invalidate",
] as const;
type AdminAction = (typeof ADMIN_ACTIONS)[number];

/** Data of any administration with its action. */
export type Administration = {
  [A in AdminAction]: { readonly action: A; readonly data: VaultData[A] };
}[AdminAction];

export type AdminFile = Administration & {
  readonly domain: VaultDomain;
  readonly signatures: readonly Hex[];
};

const HexText = (digits: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${digits}}$` });
const Decimal = Type.String({ pattern: "^(0|[1-9][0-9]{0,77})$" });
const Members = Type.Array(HexText(40), { minItems: 1, maxItems: 32 });
const Bounds = { sequence: Decimal, expiry: Decimal };
const Closed = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

const DATA = {
  Unlock: Closed(Bounds),
  SetAttestors: Closed({ attestors: Members, quorum: Decimal, ...Bounds }),
  SetGuardians: Closed({ guardians: Members, ...Bounds }),
  SetCaps: Closed({ token: HexText(40), hourFloor: Decimal, dayFloor: Decimal, ...Bounds }),
  Invalidate: Closed({ ids: Type.Array(Decimal, { minItems: 1, maxItems: 256 }), ...Bounds }),
};

const FileText = Closed({
  format: Type.Literal(FORMAT),
  chainId: Type.Integer({ minimum: 1 }),
  vault: HexText(40),
  venueId: HexText(64),
  action: Type.Enum([...ADMIN_ACTIONS]),
  data: Type.Object({}),
  signatures: Type.Array(HexText(130), { maxItems: 32 }),
});

/** @throws RangeError that says what is wrong with the text. */
export function readAdminFile(text: string): AdminFile {
  const ajv = new Ajv();
  const file: unknown = parsed(text);
  if (!ajv.validate(FileText, file)) throw new RangeError(ajv.errorsText(ajv.errors));
  const { chainId, vault, venueId, action, data, signatures } = file as Static<typeof FileText>;
  if (!ajv.validate(DATA[action], data)) throw new RangeError(ajv.errorsText(ajv.errors));
  const domain = { chainId, vault: addressOf(vault), venueId: hexOf(venueId) };
  const values = Object.entries(data).map(([name, value]) => [name, fieldOf(value)]);
  const administration = { action, data: Object.fromEntries(values) } as Administration;
  // Throws if a number does not fit its type.
  vaultDigest(domain, action, administration.data);
  return { ...administration, domain, signatures: signatures.map(hexOf) };
}

export function adminFileText(file: AdminFile): string {
  const { domain, action, data, signatures } = file;
  const { chainId, vault, venueId } = domain;
  const content = { format: FORMAT, chainId, vault, venueId, action, data, signatures };
  const textOf = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return `${JSON.stringify(content, textOf, 2)}\n`;
}

/** The digest of a file's data. */
export function adminDigest({ domain, action, data }: AdminFile): Hex {
  return vaultDigest(domain, action, data);
}

/** The fields of a file's data in the order of its type, as text. */
export function adminFields({ action, data }: AdminFile): readonly (readonly [string, string])[] {
  const values: Readonly<Record<string, unknown>> = { ...data };
  return VAULT_TYPES[action].map(({ name }) => [name, String(values[name]).replaceAll(",", " ")]);
}

const Setup = Closed({
  venueId: HexText(64),
  disputeSeconds: Type.Integer({ minimum: 1, maximum: 604_800 }),
  disputeBlocks: Type.Integer({ minimum: 1, maximum: 100_000 }),
  attestors: Members,
  attestorQuorum: Type.Integer({ minimum: 2, maximum: 32 }),
  guardians: Members,
  coldKeys: Members,
  coldQuorum: Type.Integer({ minimum: 2, maximum: 32 }),
  tokens: Type.Array(Closed({ token: HexText(40), hourFloor: Decimal, dayFloor: Decimal }), {
    minItems: 1,
    maxItems: 32,
  }),
});

/** The constructor's argument from the JSON of `perpgate vault deploy`. @throws RangeError */
export function readVaultSetup(text: string) {
  const ajv = new Ajv();
  const file: unknown = parsed(text);
  if (!ajv.validate(Setup, file)) throw new RangeError(ajv.errorsText(ajv.errors));
  const setup = file as Static<typeof Setup>;
  return {
    venue: hexOf(setup.venueId),
    disputeSeconds: setup.disputeSeconds,
    disputeBlocks: setup.disputeBlocks,
    attestors: ascending(setup.attestors),
    attestorQuorum: BigInt(setup.attestorQuorum),
    guardians: ascending(setup.guardians),
    coldKeys: ascending(setup.coldKeys),
    coldQuorum: BigInt(setup.coldQuorum),
    tokens: setup.tokens.map(({ token, hourFloor, dayFloor }) => ({
      token: addressOf(token),
      hourFloor: BigInt(hourFloor),
      dayFloor: BigInt(dayFloor),
    })),
  };
}

/** As the vault takes members. */
function ascending(members: readonly string[]): readonly Address[] {
  return members.map(addressOf).sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RangeError("is not JSON");
  }
}

/** A text of digits is a number, one with 0x an address; lists likewise. */
function fieldOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldOf);
  const text = String(value);
  return text.startsWith("0x") ? addressOf(text) : BigInt(text);
}

function addressOf(text: string): Address {
  if (!isAddress(text)) throw new RangeError(`${text} is not an address, or its checksum is wrong`);
  return getAddress(text);
}

function hexOf(text: string): Hex {
  return `0x${text.slice(2).toLowerCase()}`;
}
