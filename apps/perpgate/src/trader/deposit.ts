/**
 * `perpgate deposit`: money into the account.
 *
 * Where the dev attestor runs, one call makes up a transaction and waits until it is credited. Where
 * real chains are configured, a transaction that was sent is registered by its hash and followed to
 * its credit; without a hash the call says where to send tokens.
 */

import { randomBytes } from "node:crypto";
import type { BridgeInfo, Chain, Deposit, Session, Token } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import type { Output } from "../cli/output.js";
import { printable } from "../cli/printable.js";
import { money } from "../cli/quantities.js";
import { StartError } from "../cli/start-error.js";
import type { Column } from "../cli/table.js";
import { type TradingVenue, VENUE_OPTIONS, withSession } from "./connection.js";
import { Interruption } from "./interruption.js";

const CHAINS: readonly Chain[] = ["ethereum", "arbitrum", "tron"];
const TOKENS: readonly Token[] = ["USDC", "USDT"];

export const DEPOSIT: Command = {
  usage: [
    "deposit",
    "deposit --chain CHAIN --tx HASH [--token USDC] [--no-wait]",
    "deposit --list",
  ],
  about: `On a testnet with the dev attestor: gives test money and waits until it is credited. With
real chains: registers the transaction that sent tokens to the vault, and shows how it is
confirmed and credited; without --tx it says where to send them.`,
  options: {
    chain: { kind: "text", value: "CHAIN", help: `${CHAINS.join(", ")} (ethereum)` },
    tx: { kind: "text", value: "HASH", help: "the hash of the transaction" },
    token: { kind: "text", value: "TOKEN", help: `${TOKENS.join(", ")} (USDC)` },
    "no-wait": { kind: "flag", help: "register and leave" },
    list: { kind: "flag", help: "your deposits so far" },
    ...VENUE_OPTIONS,
  },
  examples: [
    ["deposit", "test money, on a testnet"],
    ["deposit --chain arbitrum --tx 0x9f…", "register a transfer and wait"],
  ],
  run: deposit,
};

async function deposit(args: Arguments): Promise<number> {
  args.atMost(0);
  const chain = oneOf(args, "chain", CHAINS) ?? "ethereum";
  const token = oneOf(args, "token", TOKENS) ?? "USDC";
  return withSession(args, async (venue) => {
    if (args.has("list")) return list(venue);
    const bridge = await venue.client.bridge();
    const txHash = args.text("tx") ?? madeUpHash(bridge);
    if (txHash === undefined) return showWhereTo(venue.output, bridge);
    const registered = await venue.session.deposit({ chain, txHash, token });
    if (args.has("no-wait")) return finish(venue, registered);
    return finish(venue, await followed(venue, registered));
  });
}

/** The dev attestor credits any hash that it has not seen. */
function madeUpHash({ attestor }: BridgeInfo): string | undefined {
  return attestor === "dev" ? `0x${randomBytes(32).toString("hex")}` : undefined;
}

function oneOf<T extends string>(
  args: Arguments,
  option: string,
  allowed: readonly T[],
): T | undefined {
  const text = args.text(option);
  if (text === undefined) return undefined;
  const found = allowed.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw args.fail(`--${option} is one of ${allowed.join(", ")}`);
  return found;
}

/** Tells each step as it happens; ends when the deposit is credited or rejected. */
async function followed({ session, output }: TradingVenue, first: Deposit): Promise<Deposit> {
  const interruption = new Interruption();
  let told = "";
  const tell = (deposit: Deposit) => {
    const text = stepText(deposit);
    if (text !== told && !output.isJson) output.remark(text);
    told = text;
  };
  tell(first);
  try {
    return await Promise.race([
      ended(session, first, tell),
      interruption.wait().then(() => {
        throw new StartError(
          `stopped waiting; deposit ${first.depositId} goes on by itself: perpgate deposit --list`,
        );
      }),
    ]);
  } finally {
    interruption.end();
    session.stream.close();
  }
}

function ended(
  session: Session,
  { depositId }: Deposit,
  tell: (deposit: Deposit) => void,
): Promise<Deposit> {
  return new Promise((resolve, reject) => {
    const watch = session.stream.watchDeposits(({ deposits }) => {
      const found = deposits.find((deposit) => deposit.depositId === depositId);
      if (found === undefined) return;
      tell(found);
      if (found.status === "credited" || found.status === "rejected") resolve(found);
    });
    watch.ready.catch(reject);
  });
}

function stepText({ depositId, status, confirmations, required }: Deposit): string {
  const count = status === "confirming" ? `, ${confirmations} of ${required} confirmations` : "";
  return `deposit ${depositId}: ${status}${count}`;
}

async function finish({ session, output }: TradingVenue, deposit: Deposit): Promise<number> {
  if (output.isJson) output.json(deposit);
  else await show(session, output, deposit);
  return deposit.status === "rejected" ? 1 : 0;
}

async function show(session: Session, output: Output, deposit: Deposit): Promise<void> {
  const { status, credits, reason } = deposit;
  if (status === "rejected") {
    output.line(
      `${output.paint("rejected", "bad")}: ${printable(reason ?? "no reason was given")}`,
    );
    return;
  }
  if (status !== "credited") {
    output.line(`${stepText(deposit)}; follow it: perpgate watch deposits`);
    return;
  }
  const total = credits.reduce((sum, { amount }) => sum + amount, 0);
  const { balance } = await session.account();
  output.line(
    `${output.paint("credited", "good")} ${money(total)}, the balance is ${money(balance)}`,
  );
}

function showWhereTo(output: Output, bridge: BridgeInfo): number {
  if (output.isJson) output.json(bridge);
  else {
    const rows = bridge.chains.flatMap(({ chain, vault, confirmations, tokens }) =>
      tokens.map(({ token, contract }) => ({ chain, vault, confirmations, token, contract })),
    );
    output.rows(WHERE_TO, rows, "this venue takes no deposits");
    output.line("\nSend tokens to the vault, then: perpgate deposit --chain CHAIN --tx HASH");
  }
  return 0;
}

const WHERE_TO: readonly Column<{
  readonly chain: string;
  readonly token: string;
  readonly vault: string;
  readonly confirmations: number;
  readonly contract: string;
}>[] = [
  { title: "chain", cell: ({ chain }) => chain },
  { title: "token", cell: ({ token }) => token },
  { title: "vault", cell: ({ vault }) => vault },
  { title: "confirmations", align: "right", cell: ({ confirmations }) => String(confirmations) },
  { title: "contract", cell: ({ contract }) => contract },
];

const LIST: readonly Column<Deposit>[] = [
  { title: "deposit", align: "right", cell: ({ depositId }) => depositId },
  { title: "chain", cell: ({ chain }) => chain },
  { title: "token", cell: ({ token }) => token },
  {
    title: "credited",
    align: "right",
    cell: ({ credits }) => money(credits.reduce((sum, { amount }) => sum + amount, 0)),
  },
  {
    title: "status",
    cell: ({ status, reason }) => (reason === null ? status : `${status}: ${reason}`),
  },
  { title: "transaction", cell: ({ txHash }) => txHash },
];

async function list({ session, output }: TradingVenue): Promise<number> {
  output.rows(LIST, await session.deposits(), "no deposits");
  return 0;
}
