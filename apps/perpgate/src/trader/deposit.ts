/**
 * `perpgate deposit`: money into the account.
 *
 * With the dev attestor, one call registers a random transaction hash and waits until it is credited.
 * With real chains, a transaction that was sent is registered by its hash and followed until it is
 * credited; without a hash the call prints where to send tokens.
 */

import { randomBytes } from "node:crypto";
import type { BridgeInfo, Chain, Deposit, Session, StreamProblem, Token } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { money } from "../cli/quantities.js";
import { StartError, UsageError } from "../cli/start-error.js";
import { type Column, left, right } from "../cli/table.js";
import { type TradingVenue, withSession } from "./connection.js";
import { Interruption } from "./interruption.js";
import { sendOnce } from "./sender.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface DepositOptions extends VenueCommandOptions {
  readonly chain?: Chain;
  readonly tx?: string;
  readonly token?: Token;
  readonly wait: boolean;
  readonly list?: boolean;
  readonly limit?: number;
  readonly before?: string;
}

export function deposit(options: DepositOptions): Promise<number> {
  const { chain = "ethereum", token = "USDC" } = options;
  if (options.list !== true && (options.limit ?? options.before) !== undefined) {
    throw new UsageError("--limit and --before need --list");
  }
  return withSession(options, async (venue) => {
    if (options.list === true) return list(venue, options);
    const bridge = await venue.client.bridge();
    const txHash = options.tx ?? randomHash(bridge);
    if (txHash === undefined) return showWhereTo(venue, bridge);
    const { session, hint } = venue;
    const sent = { what: `deposit ${chain} ${txHash}`, settle: `ask: ${hint("deposit --list")}` };
    const registered = await sendOnce(venue, sent, (call) =>
      session.deposit({ chain, txHash, token }, call),
    );
    return finish(venue, options.wait ? await followed(venue, registered) : registered);
  });
}

/** The dev attestor credits any hash that it has not seen. */
function randomHash({ attestor }: BridgeInfo): string | undefined {
  return attestor === "dev" ? `0x${randomBytes(32).toString("hex")}` : undefined;
}

/** Prints each step; rejects if the session ends, resolves when the deposit is credited or rejected. */
export async function followed(
  { session, output, hint }: Pick<TradingVenue, "session" | "output" | "hint">,
  first: Deposit,
): Promise<Deposit> {
  // The stream shows the latest deposits only.
  if (isFinal(first)) return first;
  const interruption = new Interruption();
  let printed = "";
  const print = (deposit: Deposit) => {
    const text = stepText(deposit);
    if (text !== printed && !output.isJson) output.remark(text);
    printed = text;
  };
  print(first);
  try {
    return await Promise.race([
      ended(session, first, print),
      interruption.wait().then(() => {
        throw new StartError(
          `stopped waiting; deposit ${first.depositId} is still processed: ${hint("deposit --list")}`,
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
  onChange: (deposit: Deposit) => void,
): Promise<Deposit> {
  return new Promise((resolve, reject) => {
    const onProblem = ({ kind, error }: StreamProblem) => {
      if (kind === "refused") reject(error);
    };
    session.stream.watchDeposits(
      ({ deposits }) => {
        const found = deposits.find((deposit) => deposit.depositId === depositId);
        if (found === undefined) return;
        onChange(found);
        if (isFinal(found)) resolve(found);
      },
      { onProblem },
    );
  });
}

function isFinal({ status }: Deposit): boolean {
  return status === "credited" || status === "rejected";
}

function stepText({ depositId, status, confirmations, required }: Deposit): string {
  const count = status === "confirming" ? `, ${confirmations} of ${required} confirmations` : "";
  return printable(`deposit ${depositId}: ${status}${count}`);
}

async function finish(venue: TradingVenue, deposit: Deposit): Promise<number> {
  if (venue.output.isJson) venue.output.json(deposit);
  else await show(venue, deposit);
  return deposit.status === "rejected" ? 1 : 0;
}

async function show({ session, output, hint }: TradingVenue, deposit: Deposit): Promise<void> {
  const { status, credits, reason } = deposit;
  if (status === "rejected") {
    output.line(
      `${output.paint("rejected", "bad")}: ${printable(reason ?? "no reason was given")}`,
    );
    return;
  }
  if (status !== "credited") {
    output.line(`${stepText(deposit)}; follow it: ${hint("watch deposits")}`);
    return;
  }
  const { address } = session;
  const { balance } = await session.account();
  const own = money(creditedTo(address, deposit));
  output.line(`${output.paint("credited", "good")} ${own}, the balance is ${money(balance)}`);
  const others = credits.filter((credit) => !isOf(address, credit)).map(({ account }) => account);
  if (others.length > 0) {
    const senders = printable([...new Set(others)].join(", "));
    output.line(`credited to the senders, not to you: ${senders}`);
  }
}

/** Each sender of a transaction is credited what it sent, and nobody else who registers the hash. */
export function creditedTo(address: string, { credits }: Pick<Deposit, "credits">): number {
  const own = credits.filter((credit) => isOf(address, credit));
  return own.reduce((sum, { amount }) => sum + amount, 0);
}

function isOf(address: string, { account }: Deposit["credits"][number]): boolean {
  return account.toLowerCase() === address.toLowerCase();
}

function showWhereTo({ output, hint }: TradingVenue, bridge: BridgeInfo): number {
  if (output.isJson) output.json(bridge);
  else {
    const rows = bridge.chains.flatMap(({ chain, vault, confirmations, tokens }) =>
      tokens.map(({ token, contract }) => ({ chain, vault, confirmations, token, contract })),
    );
    output.rows(WHERE_TO, rows, "this venue takes no deposits");
    const registering = hint("deposit --chain CHAIN --tx HASH");
    output.line(`\nSend tokens to the vault, then: ${registering}`);
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
  left("chain", ({ chain }) => chain),
  left("token", ({ token }) => token),
  left("vault", ({ vault }) => vault),
  right("confirmations", ({ confirmations }) => String(confirmations)),
  left("contract", ({ contract }) => contract),
];

const listOf = (address: string): readonly Column<Deposit>[] => [
  right("deposit", ({ depositId }) => depositId),
  left("chain", ({ chain }) => chain),
  left("token", ({ token }) => token),
  right("credited", (deposit) => money(creditedTo(address, deposit))),
  left("status", ({ status, reason }) => (reason === null ? status : `${status}: ${reason}`)),
  left("transaction", ({ txHash }) => txHash),
];

async function list(
  { session, output }: TradingVenue,
  { limit, before }: DepositOptions,
): Promise<number> {
  const deposits = await session.deposits({ limit, before });
  output.rows(listOf(session.address), deposits, "no deposits");
  return 0;
}
