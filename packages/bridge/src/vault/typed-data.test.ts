import {
  concatHex,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbiParameters,
  toHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import {
  joinSignatures,
  signVaultData,
  signWithdrawal,
  type VaultDomain,
  vaultDigest,
  vaultSignerOf,
} from "./typed-data.js";

const DOMAIN: VaultDomain = {
  venueId: `0x${"ab".repeat(32)}`,
  chainId: 42_161,
  vault: "0x00000000000000000000000000000000000000AA",
};
const WITHDRAWAL = {
  token: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
  account: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  amount: 1_500_000n,
  id: 48_213n,
  deadline: 1_800_000_000n,
} as const;
const KEYS: readonly Hex[] = ["0x01", "0x02", "0x03"].map(
  (digits) => `0x${digits.slice(2).padStart(64, "0")}`,
) as readonly Hex[];

test("digest: equals EIP-712 computed by hand", () => {
  const domainType = keccak256(
    toHex(
      "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)",
    ),
  );
  const separator = keccak256(
    encodeAbiParameters(
      parseAbiParameters("bytes32, bytes32, bytes32, uint256, address, bytes32"),
      [
        domainType,
        keccak256(toHex("Perpgate Vault")),
        keccak256(toHex("1")),
        BigInt(DOMAIN.chainId),
        DOMAIN.vault,
        DOMAIN.venueId,
      ],
    ),
  );
  const type = keccak256(
    toHex("Withdrawal(address token,address account,uint128 amount,uint64 id,uint64 deadline)"),
  );
  const struct = keccak256(
    encodeAbiParameters(parseAbiParameters("bytes32, address, address, uint128, uint64, uint64"), [
      type,
      WITHDRAWAL.token,
      WITHDRAWAL.account,
      WITHDRAWAL.amount,
      WITHDRAWAL.id,
      WITHDRAWAL.deadline,
    ]),
  );
  const byHand = keccak256(concatHex(["0x1901", separator, struct]));
  expect(vaultDigest(DOMAIN, "Withdrawal", WITHDRAWAL)).toBe(byHand);
});

test("vectors: digests and a signature that must never change", async () => {
  const bounds = { sequence: 7n, expiry: 1_800_000_000n };
  const members = [WITHDRAWAL.account, WITHDRAWAL.token] as const;
  const { token } = WITHDRAWAL;
  expect([
    vaultDigest(DOMAIN, "Withdrawal", WITHDRAWAL),
    vaultDigest(DOMAIN, "Unlock", bounds),
    vaultDigest(DOMAIN, "SetAttestors", { attestors: members, quorum: 2n, ...bounds }),
    vaultDigest(DOMAIN, "SetGuardians", { guardians: members, ...bounds }),
    vaultDigest(DOMAIN, "SetCaps", { token, hourFloor: 1n, dayFloor: 2n, ...bounds }),
    vaultDigest(DOMAIN, "Invalidate", { ids: [1n, 2n], ...bounds }),
    await signWithdrawal(DOMAIN, WITHDRAWAL, KEYS[0]!),
  ]).toMatchInlineSnapshot(`
    [
      "0x2d11f3cecda862e16c393b1a1b20b68a6b8fc2c8dcb0a16109bc9eda89c88898",
      "0x02dce6baaaeef6dcb3fca3895db881b8878fa5e8a781389889fdc5a0716af53f",
      "0xae3ad05e5438637c894b96d81438e6c5460d6ddffc8da853b5333a24ea36c721",
      "0xe1c44a1e432987e1f41d76321f78c3b2f65295a35fd16500954abd49107424cc",
      "0x9f53d5e0679e1e0924fa028689965958a8e1b27590c166d42a223ac7dae6e17a",
      "0x3262550bded612c3f4aa25ea54c9fb7f73a2d4b8fd5c0271d4e04eb0ef691d69",
      "0x0b8c3843d4cd54d8d25744394a561823e01ab217ac9c92432298ac19055adae3480907d94b361da5b331607452caf7010e1ded3204fd2960468ec40d791be4b11b",
    ]
  `);
});

test("signWithdrawal: the signature of an account's own signing", async () => {
  const account = privateKeyToAccount(KEYS[1]!);
  const one = await signWithdrawal(DOMAIN, WITHDRAWAL, KEYS[1]!);
  expect(await signVaultData(DOMAIN, "Withdrawal", WITHDRAWAL, account)).toBe(one);
  expect(await vaultSignerOf(vaultDigest(DOMAIN, "Withdrawal", WITHDRAWAL), one)).toBe(
    account.address,
  );
});

test("joinSignatures: ascending signers, exactly a quorum, whatever order they came in", async () => {
  const members = KEYS.map((key) => privateKeyToAccount(key).address);
  const digest = vaultDigest(DOMAIN, "Withdrawal", WITHDRAWAL);
  const [a, b, c] = await Promise.all(KEYS.map((key) => signWithdrawal(DOMAIN, WITHDRAWAL, key)));
  const group = { members, quorum: 2 };
  const byAddress = [a!, b!, c!]
    .map((signature, i) => ({ signature, member: members[i]! }))
    .sort((x, y) => (BigInt(x.member) < BigInt(y.member) ? -1 : 1));
  const lowest = concatHex(byAddress.slice(0, 2).map(({ signature }) => signature));
  expect(await joinSignatures(digest, [c!, b!, a!], group)).toEqual({ joined: lowest });
  expect(await joinSignatures(digest, [a!], group)).toEqual({ problem: "too_few" });
  expect(await joinSignatures(digest, [a!, a!], group)).toEqual({ problem: "repeated_signer" });
  const fewer = { members: members.slice(0, 1), quorum: 1 };
  expect(await joinSignatures(digest, [b!], fewer)).toEqual({ problem: "signer_unknown" });
  const recoveryBit: Hex = `0x${a!.slice(2, -2)}01`;
  for (const bad of [
    "0x",
    recoveryBit,
    `0x${"ff".repeat(65)}`,
    `0x${"00".repeat(64)}1b`,
  ] as const) {
    expect(await joinSignatures(digest, [bad, b!], group)).toEqual({ problem: "malformed" });
  }
});
