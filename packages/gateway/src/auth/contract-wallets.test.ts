import { serve } from "@perpgate/protocol/testing/serve";
import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  serializeErc6492Signature,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { afterAll, describe, expect, test } from "vitest";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { RpcContractWallets } from "./contract-wallets.js";
import type { SiweMessage } from "./siwe-message.js";
import { FACTORY_ABI, FACTORY_CODE } from "./testing/contract-wallet-factory.js";
import { LOCAL_CHAIN_ID, startLocalChain } from "./testing/local-chain.js";
import { checkWalletSignature, parseSiweMessage } from "./testing/proofs.js";
import { siweText } from "./testing/siwe-text.js";

const chain = await startLocalChain();
afterAll(() => chain.stop());
const contracts = new RpcContractWallets(new Map([[LOCAL_CHAIN_ID, chain.url]]));
const { deployer, reader } = await clients();
const hash = await deployer.deployContract({ abi: FACTORY_ABI, bytecode: FACTORY_CODE });
const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
if (!contractAddress) throw new Error("the factory has no address");
const factory = contractAddress;

async function clients() {
  const transport = http(chain.url);
  const owner = createTestClient({ chain: hardhat, mode: "hardhat", transport });
  const account = privateKeyToAccount(generatePrivateKey());
  await owner.setBalance({ address: account.address, value: 10n ** 20n });
  return {
    deployer: createWalletClient({ account, chain: hardhat, transport }),
    reader: createPublicClient({ chain: hardhat, transport }),
  };
}

/** An owner and the address its wallet has, deployed or not. */
async function newWallet(): Promise<{ owner: PrivateKeyAccount; address: Address }> {
  const owner = privateKeyToAccount(generatePrivateKey());
  const { reader } = await clients();
  const call = { address: factory, abi: FACTORY_ABI, functionName: "addressOf" } as const;
  return { owner, address: await reader.readContract({ ...call, args: [owner.address] }) };
}

async function deploy(owner: PrivateKeyAccount): Promise<void> {
  const { deployer, reader } = await clients();
  const call = { address: factory, abi: FACTORY_ABI, functionName: "deploy" } as const;
  const hash = await deployer.writeContract({ ...call, args: [owner.address] });
  await reader.waitForTransactionReceipt({ hash });
}

function messageOf(address: Address, chainId = LOCAL_CHAIN_ID): SiweMessage {
  return parseSiweMessage(
    siweText({
      domain: "localhost",
      address,
      uri: "http://localhost",
      version: "1",
      chainId,
      nonce: "nonce1234",
      issuedAt: "2026-01-01T00:00:00Z",
    }),
  );
}

function wrapped(owner: PrivateKeyAccount, signature: Hex): Hex {
  const data = encodeFunctionData({
    abi: FACTORY_ABI,
    functionName: "deploy",
    args: [owner.address],
  });
  return serializeErc6492Signature({ address: factory, data, signature });
}

const WITHDRAWALS = {
  minWithdrawal: 10,
  fee: 0.5,
  accountPerDay: 1_000,
  venuePerHour: 1_000,
  venuePerDay: 1_000,
  lifeSeconds: 3_600,
  chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 1_000 }],
};
const REFUSED = { name: "ApiError", code: "invalid_signature", status: 401 };

describe("contract wallets on a real chain", () => {
  test("EIP-1271: a deployed wallet vouches for its owner and for nobody else", async () => {
    const { owner, address } = await newWallet();
    await deploy(owner);
    const message = messageOf(address);
    const signature = await owner.signMessage({ message: message.text });
    expect(await checkWalletSignature(message, signature, contracts)).toHaveLength(65);
    expect(await checkWalletSignature(message, signature.slice(2), contracts)).toHaveLength(65);
    const stranger = privateKeyToAccount(generatePrivateKey());
    const foreign = await stranger.signMessage({ message: message.text });
    await expect(checkWalletSignature(message, foreign, contracts)).rejects.toMatchObject(REFUSED);
    const other = await owner.signMessage({ message: `${message.text} ` });
    await expect(checkWalletSignature(message, other, contracts)).rejects.toMatchObject(REFUSED);
  });

  test("a contract's account can be paid on the contract's chain alone", async () => {
    const { owner, address } = await newWallet();
    await deploy(owner);
    const at = await runVenue({
      rpc: new Map([[LOCAL_CHAIN_ID, chain.url]]),
      parameters: { attestorKind: "chain", devCredit: 0, withdrawals: WITHDRAWALS },
    });
    const trader = new Trader(at, owner);
    const ask = async (nonce: number): Promise<unknown> => {
      const body = { chain: "ethereum", token: "USDC", amount: 10, nonce };
      return (await trader.signed("/v1/bridge/withdrawals", body)).body.code;
    };
    expect((await trader.signIn({ address, chainId: LOCAL_CHAIN_ID })).status).toBe(200);
    expect(await ask(1)).toBe("contract_wallet_elsewhere");
    // A key is its owner's on every chain.
    expect((await trader.signIn()).status).toBe(200);
    expect(await ask(1)).toBe("insufficient_balance");
  });

  test("EIP-6492: a wallet that is not deployed yet, and the same one after", async () => {
    const { owner, address } = await newWallet();
    const message = messageOf(address);
    const plain = await owner.signMessage({ message: message.text });
    await expect(checkWalletSignature(message, plain, contracts)).rejects.toMatchObject(REFUSED);
    const signature = wrapped(owner, plain);
    const kept = await checkWalletSignature(message, signature, contracts);
    expect(`0x${Buffer.from(kept).toString("hex")}`).toBe(signature);
    await deploy(owner);
    await checkWalletSignature(message, signature, contracts);
    await checkWalletSignature(message, plain, contracts);
  });

  test("EIP-6492: another owner's wallet, another factory's word: refused", async () => {
    const mine = await newWallet();
    const theirs = await newWallet();
    const message = messageOf(theirs.address);
    const signature = wrapped(mine.owner, await mine.owner.signMessage({ message: message.text }));
    await expect(checkWalletSignature(message, signature, contracts)).rejects.toMatchObject(
      REFUSED,
    );
    const empty = messageOf(privateKeyToAccount(generatePrivateKey()).address);
    await expect(
      checkWalletSignature(empty, `0x${"12".repeat(200)}`, contracts),
    ).rejects.toMatchObject(REFUSED);
  });

  test("a key's own signature needs no chain, though one is configured", async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const message = messageOf(owner.address);
    await checkWalletSignature(
      message,
      await owner.signMessage({ message: message.text }),
      contracts,
    );
  });

  test("a chain that is not configured: the refusal says so", async () => {
    const { owner, address } = await newWallet();
    const message = messageOf(address, 1);
    const plain = await owner.signMessage({ message: message.text });
    await expect(
      checkWalletSignature(message, wrapped(owner, plain), contracts),
    ).rejects.toMatchObject({ code: "chain_rpc_not_configured", status: 401, field: "signature" });
    await expect(checkWalletSignature(message, plain, contracts)).rejects.toMatchObject({
      ...REFUSED,
      details: { problem: expect.stringContaining("chain 1 are not checked") },
    });
  });

  test("an RPC of another chain: never believed", async () => {
    const { owner, address } = await newWallet();
    await deploy(owner);
    const message = messageOf(address, 1);
    const elsewhere = new RpcContractWallets(new Map([[1, chain.url]]));
    const signature = await owner.signMessage({ message: message.text });
    await expect(checkWalletSignature(message, signature, elsewhere)).rejects.toMatchObject({
      code: "not_ready",
      status: 503,
      message: expect.stringContaining("serves chain 31337"),
    });
  });

  test("an RPC that is down, silent or lost after it was proven: 503 and not 401", async () => {
    const { owner, address } = await newWallet();
    const message = messageOf(address);
    const signature = await owner.signMessage({ message: message.text });
    const notReady = { code: "not_ready", status: 503 };
    const gone = new RpcContractWallets(new Map([[LOCAL_CHAIN_ID, "http://127.0.0.1:1"]]));
    await expect(checkWalletSignature(message, signature, gone)).rejects.toMatchObject(notReady);
    const silent = await fakeRpc(() => undefined);
    await expect(checkWalletSignature(message, signature, silent)).rejects.toMatchObject(notReady);
    const chainId = { jsonrpc: "2.0", id: 1, result: `0x${LOCAL_CHAIN_ID.toString(16)}` };
    const lost = await fakeRpc((asked) => (asked === 1 ? chainId : undefined));
    await expect(checkWalletSignature(message, signature, lost)).rejects.toMatchObject(notReady);
  });
});

/** An RPC that answers its n-th request with the n-th entry, and not at all if that is undefined. */
async function fakeRpc(answer: (asked: number) => object | undefined): Promise<RpcContractWallets> {
  let asked = 0;
  const url = await serve((_request, reply) => {
    asked++;
    const body = answer(asked);
    if (body === undefined) return;
    reply.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  return new RpcContractWallets(new Map([[LOCAL_CHAIN_ID, url]]), 100);
}
