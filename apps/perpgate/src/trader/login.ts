/**
 * `perpgate login`: a wallet signs in, and the session with its key is kept in the profile.
 * `perpgate logout`: ends the session at the venue and forgets it here; the wallet's key stays.
 */

import { rmSync } from "node:fs";
import { PerpgateError, type SessionKey, sessionKeyFromSecret } from "@perpgate/sdk";
import { duration, money } from "../cli/quantities.js";
import { StartError } from "../cli/start-error.js";
import { type TradingVenue, type VenueAccess, withSession, withVenue } from "./connection.js";
import { readPrivateFile } from "./private-file.js";
import type { VenueCommandOptions } from "./venue-command.js";
import { type ChosenWallet, chooseWallet } from "./wallet-key.js";

interface LoginOptions extends VenueCommandOptions {
  readonly keyFile?: string;
  readonly sessionKeyFile?: string;
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly maxOrderNotional?: number;
  readonly maxNotional?: number;
  readonly symbols?: readonly string[];
  readonly domain?: string;
}

export async function login(options: LoginOptions): Promise<number> {
  const sessionKey = sessionKeyOf(options);
  const fields = { ...limitsOf(options), ...(sessionKey === undefined ? {} : { sessionKey }) };
  return withVenue(options, (venue) => signIn(venue, options.keyFile, fields));
}

async function signIn(
  venue: VenueAccess,
  keyFile: string | undefined,
  fields: ReturnType<typeof limitsOf> & { readonly sessionKey?: SessionKey },
): Promise<number> {
  // First: without a gateway no key must be created.
  await venue.client.health();
  venue.profile.prepare();
  const wallet = chooseWallet(venue.profile, venue.known, keyFile);
  refuseOtherWallet(venue, wallet);
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
    loggedInAt: Date.now(),
  });
  const { balance, available, cohort } = await session.account();
  show(venue, wallet, { address, expiresAt, balance, available, cohort });
  return 0;
}

function limitsOf({ maxOrderNotional, maxNotional, symbols, expiresIn, domain }: LoginOptions) {
  const caps = {
    ...(maxOrderNotional === undefined ? {} : { maxOrderNotional }),
    ...(maxNotional === undefined ? {} : { maxNotional }),
    ...(symbols === undefined ? {} : { symbols }),
  };
  return {
    ...(Object.keys(caps).length === 0 ? {} : { caps }),
    ...(expiresIn === undefined ? {} : { expiresInMs: expiresIn }),
    ...(domain === undefined ? {} : { domain }),
  };
}

function sessionKeyOf({ sessionKeyFile: path }: LoginOptions): SessionKey | undefined {
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

/** A live session of another wallet would be overwritten. */
function refuseOtherWallet({ profile, known, hint }: VenueAccess, { account }: ChosenWallet): void {
  if (known?.session == null || known.session.expiresAt < Date.now()) return;
  if (known.address === account.address) return;
  throw new StartError(
    `profile "${profile.name}" is logged in as ${known.address}, and this key is ` +
      `${account.address}: use another profile with --profile NAME, or first: ${hint("logout")}`,
  );
}

interface LoginFacts {
  readonly address: string;
  readonly expiresAt: number;
  readonly balance: number;
  readonly available: number;
  readonly cohort: boolean;
}

function show(venue: VenueAccess, { isNew, place }: ChosenWallet, facts: LoginFacts): void {
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

export function logout(
  options: VenueCommandOptions & { readonly cancelAll?: boolean },
): Promise<number> {
  return withSession(options, (venue) => signOut(venue, options.cancelAll === true));
}

async function signOut(venue: TradingVenue, isCancelingAll: boolean): Promise<number> {
  const { session, profile, known, output } = venue;
  let isOver = false;
  let canceled: readonly string[] = [];
  try {
    if (isCancelingAll) ({ canceled } = await session.cancelAll());
    await session.signOut();
  } catch (error) {
    // A session that has already ended is no failure, unless its orders were to be canceled.
    isOver = error instanceof PerpgateError && error.code === "invalid_token";
    if (!isOver || isCancelingAll) throw error;
  }
  if (known !== undefined) profile.write({ ...known, session: null });
  rmSync(profile.ledgerPath(session.token), { force: true });
  const { address } = session;
  if (output.isJson) output.json({ profile: profile.name, address, canceled });
  else {
    if (isCancelingAll) {
      output.line(`${canceled.length} ${canceled.length === 1 ? "order" : "orders"} canceled`);
    }
    output.line(`Logged out ${address}${isOver ? " (the session had already ended)" : ""}`);
  }
  return 0;
}
