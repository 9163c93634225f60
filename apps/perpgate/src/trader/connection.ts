/**
 * From a call's options to a client of the gateway, and to the session of its profile.
 *
 * The address is that of `--url`, else of PERPGATE_URL, else where the profile is logged in, else
 * the one that `npm start` listens on. Several gateways of one venue are written with commas.
 */

import { PerpgateClient, PerpgateError, type Session } from "@perpgate/sdk";
import { Output } from "../cli/output.js";
import { nearest } from "../cli/similar.js";
import { reasonOf, StartError, UsageError } from "../cli/start-error.js";
import { type Hint, hintFor } from "./hint.js";
import { Profile, type ProfileContent } from "./profile.js";
import { DEFAULT_URL, type VenueCommandOptions } from "./venue-command.js";
import { failureOf } from "./venue-failure.js";

export interface VenueAccess {
  /** One address, or several with commas. */
  readonly url: string;
  readonly client: PerpgateClient;
  readonly profile: Profile;
  readonly known: ProfileContent | undefined;
  readonly output: Output;
  readonly hint: Hint;
}

export interface TradingVenue extends VenueAccess {
  readonly session: Session;
}

/** What a symbol is refused with. */
const UNKNOWN_MARKET: ReadonlySet<string> = new Set(["unknown_symbol", "market_not_found"]);

/** A person waits for the result: after about a second a gateway that is down is reported. */
const RETRY_RULES = { timeoutMs: 5_000, retries: 3, budgetMs: 20_000 };

/** Runs against the gateway that the call names. Errors become failures with advice. */
export async function withVenue(
  options: VenueCommandOptions,
  run: (venue: VenueAccess) => Promise<number>,
): Promise<number> {
  const venue = venueOf(options);
  try {
    return await run(venue);
  } catch (error) {
    throw failureOf(error, { ...venue, meant: await marketMeant(venue, error) });
  } finally {
    venue.client.close();
  }
}

/** The same with the profile's session; throws, with the command to run, if there is none. */
export function withSession(
  options: VenueCommandOptions,
  run: (venue: TradingVenue) => Promise<number>,
): Promise<number> {
  return withVenue(options, (venue) => run({ ...venue, session: sessionOf(venue) }));
}

function venueOf(options: VenueCommandOptions): VenueAccess {
  const profile = new Profile(options.profile ?? process.env.PERPGATE_PROFILE ?? "default");
  const known = profile.read();
  const url = givenUrl(options) ?? known?.url ?? DEFAULT_URL;
  const output = new Output(options.json === true);
  const hint = hintFor(profile.name, options.url);
  return { url, client: clientOf(url), profile, known, output, hint };
}

/** For a symbol that the venue does not know: the one that may have been meant. */
async function marketMeant({ client }: VenueAccess, error: unknown): Promise<string | undefined> {
  if (!(error instanceof PerpgateError) || !UNKNOWN_MARKET.has(error.code)) return undefined;
  const [, symbol = ""] = /^No market (\w+)/.exec(error.message) ?? [];
  const listed = await client.markets({ retries: 0 }).catch(() => []);
  return nearest(
    symbol,
    listed.map((market) => market.symbol),
  );
}

function sessionOf({ profile, known, url, client, hint }: VenueAccess): Session {
  if (known === undefined || known.session === null) {
    throw new StartError(`you are not logged in; run: ${hint("login")}`);
  }
  // The gateways of a venue share its sessions.
  const isKnown = urlsOf(url).some((one) => urlsOf(known.url).includes(one));
  if (!isKnown) {
    throw new StartError(
      `profile "${profile.name}" is logged in at ${known.url}, not at ${url}; ` +
        `run: ${hintFor("NAME", url)("login")}`,
    );
  }
  try {
    return client.restore(known.session);
  } catch {
    throw new StartError(`the session in ${profile.folder} cannot be used; run: ${hint("login")}`);
  }
}

/** Normalised, so that equal addresses compare as equal. */
function givenUrl(options: VenueCommandOptions): string | undefined {
  const text = options.url ?? process.env.PERPGATE_URL;
  if (text === undefined || text === "") return undefined;
  return urlsOf(text).map(normalised).join(",");
}

export function urlsOf(text: string): string[] {
  return text.split(",").map((one) => one.trim());
}

function normalised(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UsageError(`"${text}" is not the address of a gateway, such as ${DEFAULT_URL}`);
  }
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, "");
}

/** Once a command: pages are read one after the other. */
function sayOnce(): (position: number) => void {
  let isSaid = false;
  return (position) => {
    if (isSaid) return;
    isSaid = true;
    process.stderr.write(
      `older rows are not kept: the venue's history begins at log position ${position}\n`,
    );
  };
}

function clientOf(url: string): PerpgateClient {
  try {
    return new PerpgateClient({ url: urlsOf(url), ...RETRY_RULES, onHistoryBefore: sayOnce() });
  } catch (error) {
    throw new UsageError(reasonOf(error));
  }
}
