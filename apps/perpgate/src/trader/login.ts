/** `perpgate login`: a wallet signs in, and the session with its key is kept in the profile. */

import { type SessionKey, sessionKeyFromSecret } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { duration, money } from "../cli/quantities.js";
import { StartError } from "../cli/start-error.js";
import { optionalAmount, optionalDurationMs, symbolOf } from "../cli/values.js";
import { VENUE_OPTIONS, type Venue, withVenue } from "./connection.js";
import { readPrivateFile } from "./private-file.js";
import { type ChosenWallet, chooseWallet } from "./wallet-key.js";

export const LOGIN: Command = {
  usage: ["login [--key-file FILE] [--profile NAME] [options]"],
  about: `Signs in with a wallet's key: that of --key-file, else of the variable PERPGATE_WALLET_KEY,
else the one the profile had before, else a new one, good for a testnet. The session and its
own key, which signs the orders, are kept in $XDG_CONFIG_HOME/perpgate (~/.config/perpgate),
readable by you alone.`,
  options: {
    "key-file": {
      kind: "text",
      value: "FILE",
      help: "the wallet's key; perpgate keygen makes one",
    },
    "session-key-file": {
      kind: "text",
      value: "FILE",
      help: "a session key of your own (Ed25519)",
    },
    "expires-in": { kind: "text", value: "TIME", help: "such as 90s, 30m or 8h (24h, at most)" },
    "max-order-notional": { kind: "text", value: "USD", help: "what one order may open" },
    "max-notional": { kind: "text", value: "USD", help: "what all may hold open together" },
    symbols: { kind: "text", value: "A,B", help: "the only markets it may trade" },
    domain: { kind: "text", value: "NAME", help: "the domain to sign in to (the gateway's host)" },
    ...VENUE_OPTIONS,
  },
  examples: [
    ["login", "with a new testnet wallet, or the one used before"],
    ["login --key-file ~/wallet.key", "with your own key"],
    ["login --profile bot --max-notional 5000", "a second account, of limited means"],
  ],
  run: login,
};

async function login(args: Arguments): Promise<number> {
  args.atMost(0);
  const limits = limitsOf(args);
  const sessionKey = sessionKeyOf(args);
  return withVenue(args, (venue) =>
    signIn(venue, args.text("key-file"), {
      ...limits,
      ...(sessionKey === undefined ? {} : { sessionKey }),
    }),
  );
}

async function signIn(
  venue: Venue,
  keyFile: string | undefined,
  fields: ReturnType<typeof limitsOf> & { readonly sessionKey?: SessionKey },
): Promise<number> {
  // Before a key is made: nothing is left behind where there is no gateway.
  await venue.client.health();
  venue.profile.prepare();
  const wallet = chooseWallet(venue.profile, venue.known, keyFile);
  refuseStranger(venue, wallet);
  const session = await venue.client.signIn({
    ...fields,
    account: wallet.account,
    saveable: true,
  });
  const { address, expiresAt } = session;
  venue.profile.removeOldLedgers();
  venue.profile.write({
    version: 1,
    url: venue.url,
    address,
    key: wallet.place,
    session: session.save(),
  });
  const { balance, available, cohort } = await session.account();
  show(venue, wallet, { address, expiresAt, balance, available, cohort });
  return 0;
}

function limitsOf(args: Arguments) {
  const maxOrderNotional = optionalAmount(args, "max-order-notional");
  const maxNotional = optionalAmount(args, "max-notional");
  const symbols = args
    .text("symbols")
    ?.split(",")
    .map((text) => symbolOf(args, text.trim()));
  const expiresInMs = optionalDurationMs(args, "expires-in");
  const domain = args.text("domain");
  const caps = {
    ...(maxOrderNotional === undefined ? {} : { maxOrderNotional }),
    ...(maxNotional === undefined ? {} : { maxNotional }),
    ...(symbols === undefined ? {} : { symbols }),
  };
  return {
    ...(Object.keys(caps).length === 0 ? {} : { caps }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(domain === undefined ? {} : { domain }),
  };
}

function sessionKeyOf(args: Arguments): SessionKey | undefined {
  const path = args.text("session-key-file");
  if (path === undefined) return undefined;
  const text = readPrivateFile(path);
  if (text === undefined) {
    throw new StartError(`there is no key in ${path}; make one: perpgate keygen session ${path}`);
  }
  try {
    return sessionKeyFromSecret("ed25519", text.trim());
  } catch {
    throw new StartError(`${path} does not hold a session key: 64 hex digits`);
  }
}

/** A live session of another wallet would be lost without a word. */
function refuseStranger({ profile, known }: Venue, { account }: ChosenWallet): void {
  if (known?.session == null || known.session.expiresAt < Date.now()) return;
  if (known.address === account.address) return;
  throw new StartError(
    `profile "${profile.name}" is logged in as ${known.address}, and this key is ` +
      `${account.address}: give it a profile of its own with --profile NAME, or perpgate logout first`,
  );
}

interface LoginFacts {
  readonly address: string;
  readonly expiresAt: number;
  readonly balance: number;
  readonly available: number;
  readonly cohort: boolean;
}

function show(venue: Venue, { isNew, place }: ChosenWallet, facts: LoginFacts): void {
  const { output, profile, url } = venue;
  const { address, expiresAt, balance, cohort } = facts;
  if (output.isJson) {
    output.json({ profile: profile.name, url, isNewWallet: isNew, ...facts });
    return;
  }
  if (isNew) output.line(`New testnet wallet, its key in ${profile.walletKeyPath}`);
  output.line(`${output.paint("Logged in", "good")} as ${address}`);
  output.list([
    ["gateway", url],
    ["profile", profile.name],
    ...(place === "own" || place === "environment" ? [] : [["key", place.file] as const]),
    ["session", `ends in ${duration(expiresAt - Date.now())}`],
    ["balance", money(balance)],
    ...(cohort ? [] : [["cohort", "not in it yet: you may not open positions"] as const]),
  ]);
}
